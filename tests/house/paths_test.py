"""Every path of the repository that a document or a comment names is there."""

import os
import re
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PATH = re.compile(
    r"`((?:[\w.-]+/)+[\w.-]+\.(?:h|cpp|cu|py|yaml|json|csv|sh|cmake|md|js))(?::\d+)?`"
)
ROOMS = "stepwright/"
ABROAD = {"data/README.md"}  # its tables name files of other repositories
PATTERNS = {"NAME", "step-N"}  # parts of a path that stand for any name


def sources() -> list[str]:
    """The files of the repository, without what is built or installed in it."""
    found = []
    for folder, folders, files in os.walk(ROOT):
        folders[:] = [one for one in folders if not one.startswith((".", "build", "node_modules"))]
        found += [str(Path(folder, name).relative_to(ROOT)) for name in files]
    return found


def is_of_repository(path: str, tops: set[str]) -> bool:
    """True if a path begins like one of ours: with a room or with a folder at the top."""
    return path.split("/")[0] in tops and not any(part in path for part in PATTERNS)


def missing(name: str, text: str, known: set[str], tops: set[str]) -> list[str]:
    """The paths of the repository that a text names and that are not there."""
    homes = ("", ROOMS, str(Path(name).parent) + "/", "docs/")
    found = []
    for line, content in enumerate(text.splitlines(), start=1):
        for path in PATH.findall(content):
            if is_of_repository(path, tops) and not any(home + path in known for home in homes):
                found.append(f"{name}:{line}: {path}")
    return found


class Paths(unittest.TestCase):
    def test_documents_and_comments_name_what_is_there(self):
        names = sources()
        known = set(names)
        tops = {name.split("/")[0] for name in names if "/" in name}
        tops |= {name.split("/")[1] for name in names if name.startswith(ROOMS)}
        found = []
        for name in names:
            is_read = name.endswith((".md", ".h", ".cpp"))
            if is_read and name not in {"CHANGELOG.md", *ABROAD}:
                text = (ROOT / name).read_text(encoding="utf-8")
                found += missing(name, text, known, tops)
        self.assertEqual(found, [])

    def test_a_skill_works_where_it_is_copied(self):
        for path in sorted((ROOT / "skills").glob("*/SKILL.md")):
            links = re.findall(r"\]\((?!https:)([^)]+)\)", path.read_text(encoding="utf-8"))
            outside = [link for link in links if not (path.parent / link).is_file() or ".." in link]
            self.assertEqual(outside, [], path)

    def test_a_path_that_is_gone_is_found(self):
        known = {"stepwright/step/work.h", "docs/design.md"}
        tops = {"stepwright", "step", "docs"}
        text = "`step/work.h` `step/gone.h`, `docs/gone.md:3`, `megatron/core/any.py`"
        self.assertEqual(
            missing("docs/a.md", text, known, tops),
            ["docs/a.md:1: step/gone.h", "docs/a.md:1: docs/gone.md"],
        )


if __name__ == "__main__":
    unittest.main()

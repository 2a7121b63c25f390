"""No source of these rooms compares the name of another framework: what frameworks differ in is
data (`usual` and `needs` in settings.yaml, target.yaml). No function that reads files takes all
that they say as something to write into."""

import re
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ROOMS = ("framework_files", "launch_scripts", "check", "cli", "answers", "validate")

#: Our own executor is no other framework.
COMPARED = re.compile(
    r'\bframework(?:\.name|\.variant)\s*[=!]=\s*"|\.framework\s*[=!]=\s*"(?!stepwright")'
)

#: Functions take the part of a draft that they write, or a draft as a value, and return it.
WHOLE_DRAFT = re.compile(r"\bPlanDraft\s*&")


def findings(name: str, text: str, pattern: re.Pattern[str] = COMPARED) -> list[str]:
    """The places of a source that match a pattern: without one, that compare a framework's name."""
    code = re.sub(r"//[^\n]*", "", text)
    return [
        f"{name}:{code.count(chr(10), 0, match.start()) + 1}: {match[0]}"
        for match in pattern.finditer(code)
    ]


class Frameworks(unittest.TestCase):
    def test_no_source_compares_the_name_of_a_framework(self):
        found = []
        for room in ROOMS:
            for path in sorted((ROOT / "stepwright" / room).rglob("*")):
                if path.suffix in (".h", ".cpp"):
                    name = path.relative_to(ROOT).as_posix()
                    found += findings(name, path.read_text(encoding="utf-8"))
        self.assertEqual(found, [])

    def test_no_function_writes_into_a_whole_draft(self):
        found = []
        for path in sorted((ROOT / "stepwright" / "framework_files").rglob("*")):
            if path.suffix in (".h", ".cpp"):
                name = path.relative_to(ROOT).as_posix()
                found += findings(name, path.read_text(encoding="utf-8"), WHOLE_DRAFT)
        self.assertEqual(found, [])
        self.assertEqual(len(findings("a.h", "void read(PlanDraft& draft);", WHOLE_DRAFT)), 1)

    def test_finds_a_compared_name(self):
        for text in (
            'if (known.framework.name == "nemo") {}',
            'if (draft.framework.name !=\n    "nemo") {}',
            'run.framework == "deepspeed"',
        ):
            self.assertEqual(len(findings("a.cpp", text)), 1, text)
        for text in (
            'draft.framework.name = "nemo";',
            'run.framework != "stepwright"',
            '// framework.name == "nemo"',
            "framework.name == target.framework",
        ):
            self.assertEqual(findings("a.cpp", text), [], text)


if __name__ == "__main__":
    unittest.main()

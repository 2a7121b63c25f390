"""docs/reference/ says every key that the readers of files accept, and links of documents hold."""

import re
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ROOMS = ROOT / "stepwright"
PAGES = ROOT / "docs/reference"
LISTED = re.compile(r"allow_only_keys\(\s*\{([^}]*)\}")
# Page -> tables of the code: file, begin of the table, and where a row has its key.
ROW = r"\{\s*\"([a-z][\w.]*)\""
NAMED = r"::k\w+, \"([\w-]+)\"\}"
TABLES = {
    "job": [
        ("plan/files/run_keys.h", "kRunKeys[] = {", ROW),
        ("plan/job.h", "kKernelFlagNames[] = {", r"FrameworkKernels::\w+, \"(\w+)\"\}"),
        ("plan/training_method.h", "kMethodNames[] = {", NAMED),
    ],
    "plan": [
        ("plan/choices/plan_table.h", "tuple kPlanChoiceTable{", r"Choice\{\"([\w.]+)\""),
        ("plan/overlap_table.h", "kOverlapFlagTable[] = {", r"\.name = \"(\w+)\""),
    ],
    "model": [
        ("model/inline_keys.h", f"{table}[] = {{", ROW)
        for table in (
            *("kNormKeys", "kRotaryKeys", "kBlockKeys", "kMultiTokenKeys", "kScalingKeys"),
            *(
                "kRotaryScalingKeys",
                "kOriginalRotaryScalingKeys",
                "kRotaryAmplitudeKeys",
                "kYarnRotaryScalingKeys",
                "kLatentKeys",
            ),
            *("kExpertKeys", "kStateMixerKeys", "kEncoderKeys", "kLayerKeys"),
        )
    ],
    "cluster": [("cluster/generation.h", "kGenerationFigures[] = {", ROW)],
    "frameworks": [
        ("plan/frameworks/ability.h", "kAbilityNames[] = {", NAMED),
        ("plan/frameworks/read_defaults.cpp", "kDefaultKeys[] = {", ROW),
    ],
}
# Page -> readers whose lists of keys stand in the call that refuses others.
READERS = {
    "job": [
        *("plan/files/document_batch.cpp", "plan/files/read_adapters.cpp"),
        *("plan/files/read_imbalance.cpp", "plan/files/read_job.cpp", "plan/files/read_method.cpp"),
    ],
    "cluster": ["cluster/reader.cpp", "cluster/generation_reader.cpp"],
    "tables": ["plan/files/memory_conditions.cpp"],
    "frameworks": ["plan/frameworks/read_defaults.cpp", "plan/frameworks/table.cpp"],
}
OLD = {"packed"}  # of older files: read, and not written about
ACCURACY = ("docs/accuracy", "docs")  # sections of one page lie in both folders
LINK = re.compile(r"\]\((?!https?:|mailto:)([^)\s]*)\)")


def body(text: str, begin: str) -> str:
    """A table of the code, from its begin to the brace that closes it."""
    start = text.index(begin) + len(begin)
    depth = 1
    for end in range(start, len(text)):
        depth += {"{": 1, "}": -1}.get(text[end], 0)
        if depth == 0:
            return text[start:end]
    raise AssertionError(begin)


def said(page: str) -> set[str]:
    """Words in code spans and code blocks of a page."""
    text = (PAGES / f"{page}.md").read_text(encoding="utf-8")
    spans = re.findall(r"`([^`]+)`", text) + re.findall(r"^    .*$", text, re.M)
    words = re.findall(r"[\w.-]+", " ".join(spans))
    return {part for word in words for part in (word, *word.split("."))}


def keys_of(page: str) -> set[str]:
    """Keys that the code accepts where a page says which there are."""
    keys = set()
    for path, begin, row in TABLES.get(page, []):
        found = re.findall(row, body((ROOMS / path).read_text(encoding="utf-8"), begin))
        assert found, f"{path}: {begin}"
        keys |= {part for key in found for part in key.split(".")}
    for path in READERS.get(page, []):
        found = LISTED.findall((ROOMS / path).read_text(encoding="utf-8"))
        assert found, path
        keys |= {key for listed in found for key in re.findall(r"\"(\w+)\"", listed)}
    return keys - OLD


def anchor(heading: str) -> str:
    """The anchor that GitHub and the site give a heading."""
    return re.sub(r"[^\w\- ]", "", heading.replace("`", "")).strip().lower().replace(" ", "-")


def broken(path: Path) -> list[str]:
    """Links of a document that lead nowhere."""
    text = path.read_text(encoding="utf-8")
    plain = re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)
    homes = [path.parent]
    if str(path.relative_to(ROOT)).startswith(ACCURACY[0]):
        homes = [ROOT / folder for folder in ACCURACY]
    found = []
    for link in LINK.findall(plain):
        name, _, mark = link.partition("#")
        targets = [home / name for home in homes] if name else [path]
        target = next((one for one in targets if one.exists()), targets[0])
        if not target.exists():
            found.append(f"{path.relative_to(ROOT)}: {link}")
        elif mark and target.suffix == ".md":
            headings = re.findall(r"^#+ (.+)$", target.read_text(encoding="utf-8"), re.M)
            if mark not in {anchor(heading) for heading in headings}:
                found.append(f"{path.relative_to(ROOT)}: {link}")
    return found


class Reference(unittest.TestCase):
    def test_every_key_is_said(self):
        for page in sorted({*TABLES, *READERS}):
            self.assertEqual(sorted(keys_of(page) - said(page)), [], page)

    def test_a_key_that_is_not_said_is_found(self):
        self.assertNotIn("tensor_outputs", said("plan"))
        self.assertIn("tensor_input", keys_of("plan"))
        self.assertIn("straggler_spread", keys_of("job"))

    def test_sections_that_sources_name_are_in_the_list_of_pages(self):
        listed = (ROOT / "docs/formats.md").read_text(encoding="utf-8").lower()
        missing = set()
        for path in [*ROOMS.rglob("*.h"), *ROOMS.rglob("*.cpp")]:
            text = re.sub(r"\s*\n\s*(?:///|//|\")?\s*", " ", path.read_text(encoding="utf-8"))
            for name in re.findall(r"docs/formats\.md,? \\?\"([^\"\\]+)\\?\"", text):
                if name.lower() not in listed:
                    missing.add(f"{path.relative_to(ROOT)}: {name}")
        self.assertEqual(sorted(missing), [])

    def test_every_link_of_a_document_leads_somewhere(self):
        pages = [*ROOT.glob("*.md"), *ROOT.glob("*/README.md")]
        for folder in ("docs", "skills", "examples", "python"):
            pages += (ROOT / folder).rglob("*.md")
        found = [line for page in sorted(set(pages)) for line in broken(page)]
        self.assertEqual(found, [])


if __name__ == "__main__":
    unittest.main()

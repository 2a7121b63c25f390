"""No test judges by the clock on the wall, uses a port of its choice or shares a folder: any number
of runs stand beside each other, on a machine that does other work."""

import re
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
RULES = {
    "judges by the clock": re.compile(
        r"(?:EXPECT|ASSERT)_L[TE]\([^;]*?(?:elapsed[^;,]*|\.seconds|steady_clock[^;]*), [\d.]+\)"
        r"|assertLess(?:Equal)?\([^\n]*(?:seconds|elapsed|monotonic|perf_counter|time\.time)"
    ),
    "uses a port of its choice": re.compile(
        r"(?:PORT|port)\b[\"']?\s*[=,:]\s*[\"']?[1-9]\d{3,4}\b"
    ),
    "shares a folder": re.compile(r"\bTempDir\(\)|temp_directory_path\(\)|gettempdir\(\)|mktemp\("),
}
HOMES = {"tests/folder.h"}  # where the one fresh folder is made


def findings(path: str, text: str) -> list[str]:
    """What of the rules a source breaks."""
    return [
        f"{path} {what}: {hit[0]}" for what, rule in RULES.items() for hit in rule.finditer(text)
    ]


def sources() -> list[Path]:
    folders = [ROOT / "tests", *(ROOT / "python").glob("*/tests")]
    found = [p for f in folders for p in f.rglob("*") if p.suffix in (".cpp", ".h", ".py")]
    # make_fixtures/ made the data of tests once.
    return [p for p in found if "make_fixtures" not in p.parts and p != Path(__file__).resolve()]


class Alone(unittest.TestCase):
    def test_every_test_stands_beside_others(self):
        for path in sorted(sources()):
            name = str(path.relative_to(ROOT))
            if name not in HOMES:
                with self.subTest(name):
                    self.assertEqual(findings(name, path.read_text(encoding="utf-8")), [])

    def test_what_breaks_a_rule_is_found(self):
        for text in (
            "EXPECT_LT(result.seconds, 3);",
            "EXPECT_LT(Seconds(std::chrono::steady_clock::now() - begin).count(), 30);",
            "self.assertLess(time.monotonic() - start, 60)",
            '::setenv("MASTER_PORT", "29517", 1);',
            'os.environ.update(MASTER_PORT="29400")',
            'std::filesystem::path(testing::TempDir()) / "mine.yaml"',
        ):
            with self.subTest(text):
                self.assertEqual(len(findings("a", text)), 1)


if __name__ == "__main__":
    unittest.main()

"""tools/check/words_sample.py draws the same words for the same seed, and as many as it says."""

import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "tools/check/words_sample.py"


def drawn(seed: int, *words: str) -> str:
    command = [sys.executable, "-B", str(SCRIPT), str(seed), *words]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def counts(page: str) -> list[int]:
    """Numbered items of each part."""
    return [len(re.findall(r"^\d+\. ", part, re.M)) for part in page.split("\n## ")[1:]]


class Sample(unittest.TestCase):
    def test_as_many_of_each_as_are_judged(self):
        with tempfile.TemporaryDirectory() as folder:
            key = Path(folder, "key.md")
            page = drawn(7, "--key", str(key))
            self.assertEqual(counts(page), [60, 20, 30, 20])
            self.assertEqual(counts(key.read_text(encoding="utf-8")), [60, 20, 30, 20])
            self.assertNotRegex(page, r"\.h:\d+")

    def test_the_seed_decides(self):
        self.assertEqual(drawn(7), drawn(7))
        self.assertNotEqual(drawn(7), drawn(8))


if __name__ == "__main__":
    unittest.main()

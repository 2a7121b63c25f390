"""The nightly workflow runs every part of tools/check/check_all.sh, which explains each part."""

import re
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


class Nightly(unittest.TestCase):
    def test_runs_every_part(self):
        script = (ROOT / "tools/check/check_all.sh").read_text(encoding="utf-8")
        workflow = (ROOT / ".github/workflows/nightly.yml").read_text(encoding="utf-8")
        parts = re.search(r"set -- ([\w ]+)", script)[1].split()
        self.assertGreater(len(parts), 5)
        self.assertEqual(re.search(r"part: \[([\w, ]+)\]", workflow)[1].split(", "), parts)
        explained = re.findall(r"^#   (\w+) ", script, re.MULTILINE)
        self.assertEqual(explained, parts)


if __name__ == "__main__":
    unittest.main()

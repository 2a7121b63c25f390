"""What README.md says of accuracy is what the fit of today wrote."""

import json
import re
import unittest
from pathlib import Path

ROOT = Path(__file__).parents[2]
README = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
LEFT_OUT = json.loads((ROOT / "docs/accuracy/left_out.json").read_text(encoding="utf-8"))
TABLES = (ROOT / "docs/accuracy/left_out.md").read_text(encoding="utf-8")


def said(pattern: str) -> float:
    """The number that README.md has at the place of "#"."""
    found = re.search(pattern.replace("#", r"([\d.,]+\d)"), README)
    assert found, f"README.md: nothing like '{pattern}'"
    return float(found[1].replace(",", ""))


def median_of(rows: str) -> float:
    """The median of a line of the tables."""
    found = re.search(rf"^\| {rows} \| \d+ \| ([\d.]+) \|", TABLES, re.MULTILINE)
    assert found, rows
    return float(found[1])


class Figures(unittest.TestCase):
    def test_runs_left_out(self):
        self.assertEqual(said("Step times of # training runs"), LEFT_OUT["source"]["used"])
        places = {
            "off by # % in the median": "generation",
            "three leave-outs: # % without their source": "source",
            "their source, # % without their framework": "framework",
        }
        for words, place in places.items():
            self.assertEqual(said(words), round(100 * LEFT_OUT[place]["median"], 1), words)

    def test_lines_of_the_tables(self):
        lines = {
            "is forgotten .dense # %": "dense, its generation left out",
            "mixtures of experts # %": "with experts, its generation left out",
            "framework; # % where their stack was seen": "all, fitted",
        }
        for words, rows in lines.items():
            self.assertEqual(said(words), median_of(rows), words)

    def test_choices(self):
        choices = LEFT_OUT["source"]["choices"]
        self.assertEqual(said("Of # groups of plans for one job"), choices["groups"])
        regret = round(100 * choices["mean_regret"], 1)
        self.assertEqual(said("without their source is # % slower"), regret)


if __name__ == "__main__":
    unittest.main()

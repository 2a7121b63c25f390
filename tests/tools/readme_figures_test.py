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


COLUMNS = {
    "seen": "fitted",
    "source left out": "source",
    "framework left out": "framework",
    "generation left out": "generation",
}
ROWS = {"dense": "dense", "mixtures of experts": "with experts"}


def rows_of(text: str) -> list[list[str]]:
    """The cells of every row of every table."""
    lines = [line.strip().strip("|") for line in text.splitlines() if line.strip().startswith("|")]
    return [[cell.strip() for cell in line.split("|")] for line in lines]


README_ROWS = rows_of((ROOT / "README.md").read_text(encoding="utf-8"))
HEAD = next(row for row in README_ROWS if row[1:] == list(COLUMNS))


def errors_of(rows: str, column: str) -> str:
    """Median and 90th percentile of a cell of the first table."""
    table = rows_of(TABLES)
    row = next(row for row in table if row[0] == rows)
    median, _, ninth, _ = row[table[0].index(column)].split(", ")
    return f"{median}, {ninth}"


class Figures(unittest.TestCase):
    def test_runs_left_out(self):
        self.assertEqual(said("Step times of # training runs"), LEFT_OUT["source"]["used"])
        self.assertEqual(HEAD[1:], list(COLUMNS))
        for name, of in ROWS.items():
            cells = next(row for row in README_ROWS if row[0] == name)[1:]
            for (column, left_out), cell in zip(COLUMNS.items(), cells, strict=True):
                self.assertEqual(cell, errors_of(of, left_out), f"{name}, {column}")

    def test_choices(self):
        choices = LEFT_OUT["source"]["choices"]
        self.assertEqual(
            said("- # groups of published runs each measured several plans"), choices["groups"]
        )
        regret = round(100 * choices["mean_regret"], 1)
        self.assertEqual(said("the chosen plan is # % slower"), regret)


if __name__ == "__main__":
    unittest.main()

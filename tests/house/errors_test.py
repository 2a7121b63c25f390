"""The errors of step times in README.md are those of docs/accuracy/left_out.md."""

import re
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
COLUMNS = {
    "seen": "fitted",
    "source left out": "its source left out",
    "framework left out": "its framework left out",
    "generation left out": "its generation left out",
}
ROWS = {"dense": "dense", "mixtures of experts": "with experts"}


def table_rows(text: str) -> list[list[str]]:
    """The cells of every row of every table."""
    rows = [line.strip().strip("|") for line in text.splitlines() if line.strip().startswith("|")]
    return [[cell.strip() for cell in row.split("|")] for row in rows]


def measured() -> dict[str, str]:
    """The median and the 90th percentile of a kind of rows, as README writes them."""
    rows = table_rows((ROOT / "docs/accuracy/left_out.md").read_text())
    return {row[0]: f"{row[2]}, {row[4]}" for row in rows if len(row) == 6}


class Errors(unittest.TestCase):
    def test_of_readme_are_those_of_the_table(self) -> None:
        known = measured()
        rows = table_rows((ROOT / "README.md").read_text())
        head = next(row for row in rows if row[1:] == list(COLUMNS))
        for name, of in ROWS.items():
            row = next(row for row in rows if row[0] == name)
            self.assertEqual(len(row), len(head))
            for column, cell in zip(head[1:], row[1:], strict=True):
                self.assertEqual(cell, known[f"{of}, {COLUMNS[column]}"], f"{name}, {column}")

    def test_count_the_rows_of_the_table(self) -> None:
        rows = table_rows((ROOT / "docs/accuracy/left_out.md").read_text())
        count = next(row[1] for row in rows if row[0] == "all, its source left out")
        said = re.search(r"Step times of ([\d,]+) training runs", (ROOT / "README.md").read_text())
        self.assertEqual(said.group(1).replace(",", ""), count)


if __name__ == "__main__":
    unittest.main()

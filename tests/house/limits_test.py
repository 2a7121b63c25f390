"""docs/limits.md says what the constants of the readers are."""

import re
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ROW = re.compile(
    r"^\| ([^|]+) \| ([\d,]+)(?: (Mi|KiB|MiB|GiB))? \| [^|]+ \| `([^`]+)` `(k\w+)` \|$"
)
UNITS = {"": 1, "Mi": 2**20, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}


def value_of(file, name):
    """The number that a constant is: of digits, a power of ten or a shift."""
    text = (ROOT / "stepwright" / file).read_text()
    found = re.search(rf"constexpr [\w:]+ {name} =\s*([^;]+);", text)
    if found is None:
        return None
    said = re.sub(r"std::\w+\{(\d+)\}", r"\1", found[1]).replace("'", "").replace("U", "")
    assert re.fullmatch(r"[\d.e+*< ]+", said), said
    return eval(said)  # noqa: S307: digits and signs alone


class Limits(unittest.TestCase):
    def test_are_those_of_the_code(self):
        rows = 0
        for line in (ROOT / "docs" / "limits.md").read_text().splitlines():
            if "`k" not in line:
                continue
            row = ROW.match(line)
            self.assertIsNotNone(row, line)
            what, number, unit, file, name = row.groups()
            said = int(number.replace(",", "")) * UNITS[unit or ""]
            self.assertEqual(value_of(file, name), said, f"{what}: {file} {name}")
            rows += 1
        self.assertGreater(rows, 30)


if __name__ == "__main__":
    unittest.main()

"""Counts some steps of data/framework_memory.csv anew, and says what has changed.

    .venv/bin/python -B tools/check/framework_memory.py [CASES]

The first CASES (4) of the draw of each program run again (tools/judges/framework_memory.py). Ends
with 1 where a peak, or what stands after a step, is not within 0.1 % of the table: a framework of
another release, or a judge that counts otherwise.
"""

from __future__ import annotations

import csv
import os
import subprocess
import sys
import tempfile
from pathlib import Path

TABLE = Path("data/framework_memory.csv")
COMPARED = ("memory_value_gib", "after_step_gib")
WITHIN = 0.001
FOLDERS = {
    "transformers": ["judges_tuning"],
    "torchtitan": ["judges_current", "judges", "judges_tuning", "judges_memory"],
    "torchtune": ["judges_tuning", "judges_current", "judges_memory"],
    "float8": ["judges_tuning", "judges_memory"],
}
SEED = "1"


def counted(program: str, cases: int) -> list[dict[str, str]]:
    """Rows of the first cases of a program."""
    folders = [str(Path(".venv") / folder) for folder in FOLDERS[program]]
    environment = os.environ | {"PYTHONPATH": ":".join(folders)}
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "rows.csv"
        command = [sys.executable, "-B", "tools/judges/framework_memory.py", program]
        subprocess.run(
            [*command, str(out), str(cases), SEED],
            env=environment,
            check=True,
            capture_output=True,
        )
        return list(csv.DictReader(out.open()))


def differs(row: dict[str, str], known: dict[str, str]) -> bool:
    return any(
        abs(float(row[column]) - float(known[column])) > WITHIN * float(known[column])
        for column in COMPARED
    )


def main() -> int:
    cases = int(sys.argv[1]) if len(sys.argv) > 1 else 4
    table = {row["id"]: row for row in csv.DictReader(TABLE.open())}
    wrong = 0
    for program in FOLDERS:
        for row in counted(program, cases):
            known = table.get(row["id"])
            if known is None:
                print(f"{row['id']}: not in {TABLE}")
                wrong += 1
            elif differs(row, known):
                for column in COMPARED:
                    print(f"{row['id']}: {column}: {row[column]}, {known[column]} in {TABLE}")
                wrong += 1
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

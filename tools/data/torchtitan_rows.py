"""Writes what sample_torchtitan.py counted as a table of launches.

    python3 -B tools/data/torchtitan_rows.py TABLE.csv CASES.jsonl...

Later files replace cases of earlier ones.
"""

import csv
import json
import statistics
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from files import replaced
from torchtitan_cases import cases

COLUMNS = [
    "id",
    "source_note",
    "target",
    "cluster",
    "model",
    "stage",
    "launch",
    "ranks",
    "rank",
    "allocated_gib",
    "peak_gib",
    "reserved_gib",
    "step_s",
    "parameters",
    "finite",
]
GIB = 2**30
NODE = 8


def measured(paths: list[str]) -> dict[str, dict]:
    rows = {}
    for path in paths:
        for line in Path(path).read_text().splitlines():
            row = json.loads(line)
            if "error" not in row:
                rows[row["name"]] = row
    return rows


def row_of(case: dict, row: dict) -> dict:
    note = (
        f"torchtitan 0.2.2, PyTorch {row['torch']}, one H100 of 80 GB as rank {case['rank']} of "
        f"{case['ranks']}; fake collectives; {len(row['seconds'])} steps"
    )
    return {
        "id": case["name"],
        "source_note": note,
        "target": "torchtitan",
        "cluster": f"dgx-h100:{case['ranks'] // NODE}",
        "model": case.get("plan_model", ""),
        "stage": "last" if case["rank"] else "first",
        "launch": case["toml"],
        "ranks": case["ranks"],
        "rank": case["rank"],
        "allocated_gib": f"{row['between_steps'] / GIB:.4f}",
        "peak_gib": f"{row['peak']['allocated'] / GIB:.4f}",
        "reserved_gib": f"{row['peak']['reserved'] / GIB:.4f}",
        "step_s": f"{statistics.median(row['seconds']):.4f}",
        "parameters": row["parameters"],
        "finite": str(row["finite"]).lower(),
    }


def main() -> None:
    rows = measured(sys.argv[2:])
    with replaced(sys.argv[1], newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        for case in cases():
            if case["name"] in rows:
                writer.writerow(row_of(case, rows[case["name"]]))


if __name__ == "__main__":
    main()

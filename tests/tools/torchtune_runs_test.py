"""What torchtune's README prints (data/torchtune/runs.csv) beside what `import` reads of each row's
configuration, `memory` and `predict`: the table of docs/accuracy/unseen_tables.md.

STEPWRIGHT_COMMAND names the command.
"""

import csv
import json
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).parents[2]
DATA = ROOT / "data/torchtune"
COMMAND = os.environ["STEPWRIGHT_COMMAND"]
GIB = 2**30
LIMIT_S = 60


def answer(*words: str) -> str:
    run = subprocess.run(
        [COMMAND, *words], cwd=ROOT, capture_output=True, text=True, timeout=LIMIT_S
    )
    assert run.returncode == 0, run.stderr
    return run.stdout


def predicted(row: dict[str, str], plan: Path) -> tuple[float, float]:
    """GiB at most that the allocator has, and tokens per second."""
    settings = [word for setting in row["settings"].split() for word in ("--set", setting)]
    recipe = str(DATA / f"{row['recipe']}.yaml")
    answer("import", recipe, "--cluster", "dgx-a100-80g", "--gpus", "1", "-o", str(plan), *settings)
    stages = json.loads(answer("memory", str(plan), "--json"))["stages"]
    speed = json.loads(answer("predict", str(plan), "--json"))["tokens_per_s"]
    return max(stage["allocated_peak_bytes"] for stage in stages) / GIB, speed


def line_of(row: dict[str, str], plan: Path) -> str:
    peak, speed = predicted(row, plan)
    printed = float(row["peak_gib"])
    speeds = (
        [f"{float(row['tokens_per_s']):,.0f}", f"{speed:,.0f}"]
        if row["tokens_per_s"]
        else ["-"] * 2
    )
    error = f"{peak:.1f} ({100 * (peak / printed - 1):+.1f} %)"
    return "| " + " | ".join([row["what"], *speeds, f"{printed} GiB", error]) + " |"


class Runs(unittest.TestCase):
    def test_table_of_the_document(self):
        with open(DATA / "runs.csv", encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        with tempfile.TemporaryDirectory() as folder:
            table = "\n".join(line_of(row, Path(folder) / "plan.yaml") for row in rows)
        self.assertEqual(len(rows), 10)
        self.assertIn(table, (ROOT / "docs/accuracy/unseen_tables.md").read_text(encoding="utf-8"))


if __name__ == "__main__":
    unittest.main()

"""What torchtune's README prints (data/torchtune/runs.csv) beside what `import` reads of each row's
configuration, `memory` and `predict`: the columns of that table.

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


class Runs(unittest.TestCase):
    def test_predictions_are_those_of_the_table(self):
        with open(DATA / "runs.csv", encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual(len(rows), 10)
        with tempfile.TemporaryDirectory() as folder:
            for row in rows:
                with self.subTest(row["id"]):
                    peak, speed = predicted(row, Path(folder) / "plan.yaml")
                    self.assertEqual(row["predicted_peak_gib"], f"{peak:.1f}")
                    shown = f"{speed:.0f}" if row["tokens_per_s"] else ""
                    self.assertEqual(row["predicted_tokens_per_s"], shown)


if __name__ == "__main__":
    unittest.main()

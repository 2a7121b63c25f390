"""Says what a calibration with a few runs does for runs that it never saw.

    tools/judge_calibration.py data/training_runs.csv --command build/release/stepwright

Takes published runs of tier A of one source, device and framework, calibrates with 5, 10 or 20 of
them drawn at random (`stepwright fit --runs`), and predicts up to 30 of the others with the
built-in conditions and with the calibrated ones.
"""

import argparse
import csv
import json
import random
import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

FEWEST = 20  # runs of a group
SIZES = (5, 10, 20)
DRAWS = 2
LEFT_OUT = 30


class Runs:
    """A table of runs and the command that predicts them."""

    def __init__(self, command: str, table: Path):
        self.command = command
        with table.open(newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        self.columns = list(rows[0])
        self.rows = {row["id"]: row for row in rows if row["tier"] == "A"}

    def write(self, path: Path, ids: list[str]) -> Path:
        """A table of some of the runs."""
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, self.columns)
            writer.writeheader()
            writer.writerows(self.rows[i] for i in ids)
        return path

    def answer(self, *arguments: str | Path) -> dict | None:
        """What the command answers; nothing when it refuses (exit code 1)."""
        done = subprocess.run(
            [self.command, *arguments, "--json"], capture_output=True, text=True, check=False
        )
        if done.returncode not in (0, 1):
            sys.exit(done.stderr)
        return json.loads(done.stdout) if done.returncode == 0 else None


def groups_of(runs: Runs, folder: Path) -> list[list[str]]:
    """Runs by source, device and framework, the larger groups first."""
    answer = runs.answer("validate", runs.write(folder / "all.csv", list(runs.rows)))
    groups = defaultdict(list)
    for result in answer["results"]:
        groups[result["source"], result["device"], result["framework"]].append(result["id"])
    return sorted((g for g in groups.values() if len(g) >= FEWEST), key=len, reverse=True)


def gain(runs: Runs, seen: list[str], others: list[str], folder: Path) -> float | None:
    """By how much the mean error of the others falls, in points; nothing when refused."""
    table = runs.write(folder / "seen.csv", seen)
    conditions = folder / "conditions.yaml"
    if runs.answer("fit", "--runs", table, "-o", conditions) is None:
        return None
    rest = runs.write(folder / "others.csv", others)
    before = runs.answer("validate", rest)["mean_abs_error"]
    after = runs.answer("validate", rest, "--conditions", conditions)["mean_abs_error"]
    return 100 * (before - after)


def main() -> int:
    """Prints the gains."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("table", type=Path)
    parser.add_argument("--command", default="build/release/stepwright")
    options = parser.parse_args()
    runs = Runs(options.command, options.table)
    chance = random.Random(5)
    gains: list[float | None] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for group in groups_of(runs, folder):
            for size in (s for s in SIZES if 1.5 * s < len(group)):
                for _ in range(DRAWS):
                    seen = chance.sample(group, size)
                    others = [i for i in group if i not in seen]
                    others = chance.sample(others, min(LEFT_OUT, len(others)))
                    gains.append(gain(runs, seen, others, folder))
    kept = [g for g in gains if g is not None]
    print(
        f"{len(gains)} calibrations, {len(gains) - len(kept)} refused; the mean error of other "
        f"runs falls by {statistics.mean(kept):.1f} points ({min(kept):.1f} to {max(kept):.1f}), "
        f"rises in {sum(g < 0 for g in kept)}"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())

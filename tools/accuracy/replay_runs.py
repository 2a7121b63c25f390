"""Replays how a person's own runs lead to the best plan, and what few runs teach.

    tools/accuracy/replay_runs.py --command build/release/stepwright \
        --report docs/accuracy/own_runs.md

The closed loop: on each group of runs of one source that differ in the plan alone, `stepwright tune
JOB --runs --candidates --next 1` is asked what to measure, the published time is its measurement,
and so on. Its prior are conditions that saw no row of the source (`tools/accuracy/fit_conditions.py
--fits`). Few runs: `stepwright fit --runs` with 4 and 8 runs of a stack that the conditions it
starts from did not see, judged on the others.
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

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from files import replace_text
from fit_conditions import judged

GRID = "playbook"
STEPS = 8  # runs of a replay
TOLD = (1, 3, 5)
FEW = (4, 8)  # runs of a calibration
DRAWS = 5
FEWEST = 16  # rows of a stack
OTHERS = 40  # that a calibration is judged on
LEAST_GROUP = 3  # different times of a group


def asked(command: str, *arguments: str | Path) -> dict:
    """The answer of the command."""
    done = subprocess.run(
        [command, *arguments, "--json"], capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        sys.exit(f"{arguments}: {done.stderr}")
    return json.loads(done.stdout)


def write_rows(path: Path, rows: list[dict[str, str]], columns: list[str]) -> Path:
    """A table of some rows."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, columns)
        writer.writeheader()
        writer.writerows({name: row.get(name, "") for name in columns} for row in rows)
    return path


def job_text(row: dict[str, str], conditions: Path) -> str:
    """The job of a group; its plans are those of rows, which say the model in full."""
    model = (
        f"{{layers: {row['layers']}, hidden: {row['hidden']}, heads: {row['heads']}, "
        f"ffn: {row['ffn_hidden']}, vocab: {row['vocab']}}}"
    )
    return (
        f"stepwright: job/2\nmodel: {model}\n"
        f"cluster: {{profile: dgx-h100, devices: {row['gpus']}}}\n"
        f"batch: {{sequences: {row['global_batch']}, length: {row['seq_len']}}}\n"
        f"framework: {row['framework']}\nconditions: {conditions.resolve()}\n"
    )


class Replay:
    """One group, and what was measured of it so far."""

    def __init__(self, command: str, rows: list[dict], measured: dict[str, float], folder: Path):
        self.command, self.rows, self.measured, self.folder = command, rows, measured, folder
        self.columns = [*rows[0], "outcome"]
        hidden = ("measured_value",)
        self.open = [{k: v for k, v in row.items() if k not in hidden} for row in rows]

    def regrets(self, conditions: Path) -> tuple[list[float], list[float], int]:
        """After each run: of the best measured plan, of the plan called best; runs until `stop`."""
        job = self.folder / "job.yaml"
        job.write_text(job_text(self.rows[0], conditions), encoding="utf-8")
        candidates = write_rows(self.folder / "candidates.csv", self.open, self.columns)
        by_id = {row["id"]: row for row in self.rows}
        best = min(self.measured[i] for i in by_id)
        ran: list[str] = []
        found, called, stop = [], [], STEPS
        for _ in range(STEPS + 1):
            runs = [by_id[i] | {"outcome": "ok"} for i in ran]
            table = write_rows(self.folder / "runs.csv", runs, self.columns)
            answer = asked(self.command, "tune", job, "--runs", table, "--candidates", candidates)
            if ran:
                found.append(min(self.measured[i] for i in ran) / best - 1)
                called.append(self.measured[answer["best"]["id"]] / best - 1)
            if answer["stop"]:
                stop = min(stop, len(ran))
            if len(ran) == STEPS or not answer["next"]:
                break
            ran.append(answer["next"][0]["id"])
        for one in (found, called):
            one += [one[-1]] * (STEPS - len(one))
        return found, called, stop


def percentile(values: list[float], share: float) -> float:
    """The value below which this share of them is, counted up."""
    return sorted(values)[max(0, -(-len(values) * share // 1).__int__() - 1)]


def alike(row: dict[str, str]) -> tuple[str, ...]:
    """What rows share that differ in nothing but the plan and releases."""
    keys = ("model", "gpu", "gpus", "global_batch", "seq_len", "precision")
    return tuple(row[key] for key in keys)


def loop_report(command: str, table: Path, conditions: Path, working: bool) -> list[str]:
    """Lines on the closed loop; `working`: only runs of a utilisation that working runs have."""
    with table.open(newline="", encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["id"].startswith(f"{GRID}-")]
    rows = [row for row in rows if (judged(row) if working else row["tier"] == "A")]
    results = asked(command, "validate", table, "--tier", "A")["results"]
    measured = {one["id"]: one["measured"] for one in results}
    groups = defaultdict(list)
    for row in rows:
        if row["id"] in measured:
            groups[alike(row)].append(row)
    kept = [g for g in groups.values() if len({measured[r["id"]] for r in g}) >= LEAST_GROUP]
    found, called, stops = [], [], []
    for group in kept:
        with tempfile.TemporaryDirectory() as name:
            one = Replay(command, group, measured, Path(name)).regrets(conditions)
        found.append(one[0])
        called.append(one[1])
        stops.append(one[2])
    what = "10 % utilisation and more" if working else "all of tier A"
    lines = []
    for title, table_of in (("best measured", found), ("called best", called)):
        cells = []
        for runs in TOLD:
            at = [100 * regrets[runs - 1] for regrets in table_of]
            cells += [f"{statistics.mean(at):.1f}", f"{percentile(at, 0.9):.1f}"]
        lines.append(f"| {what}, {title} | {len(kept)} | " + " | ".join(cells) + " |")
    lines.append(f"| {what}, runs until `stop`: {statistics.mean(stops):.1f} | | | | | | | |")
    print("\n".join(lines), flush=True)
    return lines


def stacks_of(tables: list[Path], source: str) -> dict[str, list[dict[str, str]]]:
    """The rows of a source by device and framework."""
    stacks = defaultdict(list)
    for table in tables:
        with table.open(newline="", encoding="utf-8") as file:
            for row in csv.DictReader(file):
                if row["id"].startswith(f"{source}-") and judged(row):
                    stacks[f"{source}, {row['gpu']}, {row['framework']}"].append(row)
    return {name: rows for name, rows in stacks.items() if len(rows) >= FEWEST}


class Few:
    """What few runs of one stack teach about its others."""

    def __init__(self, command: str, conditions: Path, rows: list[dict[str, str]], folder: Path):
        self.command, self.conditions, self.rows, self.folder = command, conditions, rows, folder

    def errors(self, runs: int, chance: random.Random) -> tuple[float, float]:
        """Median error of other rows before and after a calibration with so many, in %."""
        columns = list(self.rows[0])
        drawn = chance.sample(self.rows, min(len(self.rows), runs + OTHERS))
        seen = write_rows(self.folder / "seen.csv", drawn[:runs], columns)
        rest = write_rows(self.folder / "rest.csv", drawn[runs:], columns)
        out = self.folder / "fitted.yaml"
        asked(self.command, "fit", "--runs", seen, "--conditions", self.conditions, "-o", out)
        before, after = (
            100 * asked(self.command, "validate", rest, "--conditions", file)["median_abs_error"]
            for file in (self.conditions, out)
        )
        return before, after


def few_report(command: str, tables: list[Path], fits: Path) -> list[str]:
    """Lines on what 4 and 8 runs of an unseen stack teach."""
    chance = random.Random(7)
    lines = []
    columns: list[list[float]] = []
    for conditions in sorted(fits.glob("without_*.yaml")):
        source = conditions.stem.removeprefix("without_")
        for name, rows in stacks_of(tables, source).items():
            cells: list[float] = []
            befores: list[float] = []
            with tempfile.TemporaryDirectory() as folder:
                few = Few(command, conditions, rows, Path(folder))
                for runs in FEW:
                    drawn = [few.errors(runs, chance) for _ in range(DRAWS)]
                    befores += [before for before, _ in drawn]
                    cells.append(statistics.median(after for _, after in drawn))
            columns.append([statistics.median(befores), *cells])
            figures = " | ".join(f"{value:.1f}" for value in columns[-1])
            lines.append(f"| {name} | {len(rows)} | {figures} |")
            print(lines[-1], flush=True)
    middle = " | ".join(f"{statistics.median(values):.1f}" for values in zip(*columns, strict=True))
    lines.append(f"| median of stacks | | {middle} |")
    print(lines[-1], flush=True)
    return lines


HEAD = """# A person's own runs

This page replays published runs as if a user measured them one after the other. Each replay starts
from constants fitted without runs of the same source.

The first table replays how `stepwright tune JOB --runs RUNS --candidates ROWS --next 1` chooses
plans to measure, in groups of nanotron's runs that differ only in the plan. Cells say by how many %
a plan is slower than the group's fastest run, after 1, 3 and 5 measured runs: the best plan
measured so far, and the plan that `tune` calls best.

| rows | groups | 1 run: mean | p90 | 3: mean | p90 | 5: mean | p90 |
|---|---|---|---|---|---|---|---|
"""
FEW_HEAD = """
The second table shows what `stepwright fit --runs` gains from 4 and 8 runs of a stack (one
framework on one kind of device) that no fit had seen: the median error in % for other runs of the
stack (median of five random draws).

| stack | rows | before | 4 runs | 8 runs |
|---|---|---|---|---|
"""


def main() -> int:
    """Replays and writes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--command", default="build/release/stepwright")
    parser.add_argument("--fits", type=Path, required=True, help="folder of without_SOURCE.yaml")
    parser.add_argument("--report", type=Path)
    options = parser.parse_args()
    tables = [Path("data/training_runs.csv"), Path("data/training_runs_2.csv")]
    prior = options.fits / f"without_{GRID}.yaml"
    lines = loop_report(options.command, tables[1], prior, True)
    lines += loop_report(options.command, tables[1], prior, False)
    few = few_report(options.command, tables, options.fits)
    text = HEAD + "\n".join(lines) + "\n" + FEW_HEAD + "\n".join(few) + "\n"
    if options.report:
        replace_text(options.report, text)
    return 0


if __name__ == "__main__":
    sys.exit(main())

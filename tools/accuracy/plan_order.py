"""Prints how often the plan predicted to be faster is the faster one, by how far apart two are.

    tools/accuracy/plan_order.py --command build/release/stepwright

A pair is two published runs of one job by one framework on the same devices, of which one is the
fastest predicted. A source counts once, however many pairs it has. Constants have seen these runs.
"""

import argparse
import csv
import itertools
import json
import math
import subprocess
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TABLES = ("training_runs", "training_runs_2", "training_runs_3", "training_runs_4", "own_runs_h100")
JOB = ("gpu", "gpus", "framework", "model", "params_b", "layers", "hidden", "seq_len")
JOB += ("global_batch", "precision")
GAPS = (0, 0.01, 0.03, 0.05, 0.1, 0.2, 10)


def predicted(command: str, table: Path) -> list[dict]:
    """Returns the predictions of a table's rows that the model expresses."""
    done = subprocess.run(
        [command, "validate", str(table), "--json"], check=True, capture_output=True, text=True
    )
    return json.loads(done.stdout)["results"]


def jobs(command: str) -> dict[tuple, list[dict]]:
    """Returns runs by source and job."""
    groups = defaultdict(list)
    for name in TABLES:
        table = ROOT / f"data/{name}.csv"
        with table.open(encoding="utf-8") as file:
            rows = {row["id"]: row for row in csv.DictReader(file)}
        for run in predicted(command, table):
            row = rows[run["id"]]
            groups[(run["source"], *(row.get(key, "") for key in JOB))].append(run)
    return groups


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--command", default="build/release/stepwright")
    seen = defaultdict(lambda: defaultdict(list))
    for (source, *_), runs in jobs(parser.parse_args().command).items():
        best = min(runs, key=lambda run: run["predicted"])
        for run in runs:
            if run is best:
                continue
            gap = run["predicted"] / best["predicted"] - 1
            slower = math.log(run["measured"] / best["measured"])
            place = max(at for at, low in enumerate(GAPS) if gap >= low)
            seen[place][source].append(slower)
    print("| apart, predicted | pairs | sources | in this order | measured, mean |")
    print("|---|---|---|---|---|")
    for place, (low, high) in enumerate(itertools.pairwise(GAPS)):
        sources = seen[place]
        pairs = list(itertools.chain(*sources.values()))
        if not pairs:
            continue
        shares = [sum(slower > 0 for slower in own) / len(own) for own in sources.values()]
        mean = math.expm1(sum(pairs) / len(pairs))
        limits = f"{low:.0%} to {high:.0%}" if high < 1 else f"{low:.0%} and more"
        right = sum(shares) / len(shares)
        print(f"| {limits} | {len(pairs)} | {len(sources)} | {right:.0%} | {mean:+.1%} |")


if __name__ == "__main__":
    main()

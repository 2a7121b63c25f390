"""Chooses, by size, what runs a collective, from samples of the cluster itself.

python -m stepwright_torch.choose SAMPLES.csv [MORE.csv ...] -o CHOICES.csv

SAMPLES are what runs of ``stepwright sample collectives`` wrote. Each size takes the fastest of the
sampled methods and Gloo in the mean of the runs, as short messages vary from one to the next by a
tenth; between two sizes their geometric mean divides.
"""

import argparse
import csv
import math
import statistics
import sys
from collections import defaultdict

from stepwright_torch.choices import COLUMNS, OPERATIONS, number, rows_of

SAMPLED = {"library", "operation", "nodes", "ranks_of_node", "payload_bytes", "seconds"}


def sampled(paths: list[str]) -> dict[tuple, dict[float, dict[str, float]]]:
    """Mean seconds by operation, nodes and ranks of a node; bytes; and method."""
    found: dict[tuple, list[float]] = defaultdict(list)
    for path in paths:
        for line, row in rows_of(path, SAMPLED):
            if row["operation"] not in OPERATIONS:
                continue
            key = (row["operation"], int(row["nodes"]), int(row["ranks_of_node"]))
            size = number(path, line, row, "payload_bytes")
            found[key, size, row["library"]].append(number(path, line, row, "seconds"))
    seconds: dict[tuple, dict[float, dict[str, float]]] = defaultdict(lambda: defaultdict(dict))
    for (key, size, library), values in found.items():
        seconds[key][size][library] = statistics.mean(values)
    return seconds


def fastest(paths: list[str]) -> list[dict[str, object]]:
    """Rows of a file of choices: runs of sizes with one fastest method."""
    rows = []
    for (operation, nodes, members), sizes in sampled(paths).items():
        if nodes < 2 or members < 2:
            continue
        best = [
            (size, min(of, key=lambda name, of=of: of[name])) for size, of in sorted(sizes.items())
        ]
        for i, (size, method) in enumerate(best):
            last = i + 1 == len(best)
            if not last and best[i + 1][1] == method:
                continue
            most = math.inf if last else math.sqrt(size * best[i + 1][0])
            rows.append(dict(zip(COLUMNS, (operation, nodes, members, most, method), strict=True)))
    return rows


def main() -> None:
    """Reads samples and writes choices."""
    parser = argparse.ArgumentParser(description=__doc__, prog="stepwright_torch.choose")
    parser.add_argument("samples", nargs="+")
    parser.add_argument("-o", "--output", required=True)
    options = parser.parse_args()
    try:
        rows = fastest(options.samples)
    except (OSError, ValueError) as error:
        sys.exit(str(error))
    with open(options.output, "w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        writer.writerows(rows)
    print(f"{len(rows)} choices in {options.output}; STEPWRIGHT_TORCH_CHOICES={options.output}")


if __name__ == "__main__":
    main()

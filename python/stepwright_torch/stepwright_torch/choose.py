"""Chooses, by size, what runs a collective, from samples of the cluster itself.

python -m stepwright_torch.choose SAMPLES.csv -o CHOICES.csv

SAMPLES is what ``stepwright sample collectives`` wrote. The largest size takes the fastest of the
sampled methods and Gloo; a smaller one takes what the next larger one took, unless another is
faster by more than samples vary. Between two sizes their geometric mean divides.
"""

import argparse
import csv
import math
import sys
from collections import defaultdict

from stepwright_torch.choices import COLUMNS, OPERATIONS, number, rows_of

# Means of short messages differ by so much from run to run.
MARGIN = 0.1

SAMPLED = {"library", "operation", "nodes", "ranks_of_node", "payload_bytes", "seconds"}


def steady(sizes: dict[float, dict[str, float]]) -> list[tuple[float, str]]:
    """The method of each size, ascending: that of the next larger one where it will do."""
    chosen: list[tuple[float, str]] = []
    method = ""
    for size in sorted(sizes, reverse=True):
        seconds = sizes[size]
        fastest_one = min(seconds, key=lambda name: seconds[name])
        if seconds.get(method, math.inf) > (1 + MARGIN) * seconds[fastest_one]:
            method = fastest_one
        chosen.append((size, method))
    return chosen[::-1]


def fastest(path: str) -> list[dict[str, object]]:
    """Rows of a file of choices: runs of sizes with one fastest method."""
    seconds: dict[tuple, dict[float, dict[str, float]]] = defaultdict(lambda: defaultdict(dict))
    for line, row in rows_of(path, SAMPLED):
        if row["operation"] not in OPERATIONS:
            continue
        key = (row["operation"], int(row["nodes"]), int(row["ranks_of_node"]))
        size = number(path, line, row, "payload_bytes")
        seconds[key][size][row["library"]] = number(path, line, row, "seconds")
    rows = []
    for (operation, nodes, members), sizes in seconds.items():
        if nodes < 2 or members < 2:
            continue
        best = steady(sizes)
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
    parser.add_argument("samples")
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

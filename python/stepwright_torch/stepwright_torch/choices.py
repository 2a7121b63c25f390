"""Reads the choice for each size from a file that ``python -m stepwright_torch.choose`` wrote."""

import csv
import math

COLUMNS = ["operation", "nodes", "ranks_of_node", "most_bytes", "method"]
OPERATIONS = ("all_reduce", "all_gather", "reduce_scatter")
WRAPPED = "gloo"

Choice = tuple[str, float, str]


def rows_of(path: str, columns: set[str]) -> list[tuple[int, dict[str, str]]]:
    """Lines and cells of a table that has these columns."""
    with open(path, encoding="utf-8", newline="") as file:
        reader = csv.DictReader(file)
        missing = sorted(columns - set(reader.fieldnames or []))
        if missing:
            raise ValueError(f"{path}:1: no column {missing[0]}")
        return [(reader.line_num, row) for row in reader]


def number(path: str, line: int, row: dict[str, str], column: str) -> float:
    """A cell above 0."""
    try:
        value = float(row[column])
    except (TypeError, ValueError):
        value = math.nan
    if not value > 0:
        raise ValueError(f"{path}:{line}: {column}: {row[column]!r} is not a number above 0")
    return value


def read_choices(path: str, tiers: list[int], methods: list[str]) -> list[Choice]:
    """(operation, most bytes, method) for groups of ``tiers``, in order; [] without a file."""
    if not path or not tiers:
        return []
    choices = []
    for line, row in rows_of(path, set(COLUMNS)):
        shape = [number(path, line, row, "ranks_of_node"), number(path, line, row, "nodes")]
        most = number(path, line, row, "most_bytes")
        if row["operation"] not in OPERATIONS:
            allowed = ", ".join(OPERATIONS)
            raise ValueError(
                f"{path}:{line}: operation: {row['operation']!r} must be one of {allowed}"
            )
        if row["method"] not in [WRAPPED, *methods]:
            allowed = ", ".join([WRAPPED, *methods])
            raise ValueError(f"{path}:{line}: method: {row['method']!r} must be one of {allowed}")
        if shape == list(map(float, tiers)):
            choices.append((row["operation"], most, row["method"]))
    return sorted(choices, key=lambda choice: choice[1])

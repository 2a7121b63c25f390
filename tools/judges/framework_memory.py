"""Counts the memory of training steps of real frameworks, at full size and without a GPU.

    python3 -B tools/judges/framework_memory.py PROGRAM OUT.csv [CASES [SEED [FIRST]]] [--messages]

Programs of the frameworks (tools/judges/memory_programs/) run one step as one rank of many, on
tensors without contents. Models and plans are random draws: case N of a seed is one draw, whichever
cases run before it. OUT is a table of measurements (docs/formats.md) that `stepwright validate`
reads, with what each kind has at the peak and what stands after the step. The context of a device
and what its allocator cannot use are not in it. With --messages rows say instead how many
collectives the step calls, and the bytes of their whole buffers (data/framework_messages.csv). Rows
are appended to OUT; cases that stand there are left out, and several processes may share one file.
PYTHONPATH names the packages: .venv/judges_tuning, for float8 also .venv/judges_memory.
"""

from __future__ import annotations

import csv
import fcntl
import importlib
import random
import sys
import traceback
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import torch
from memory_programs import counted

PROGRAMS = ("transformers", "torchtitan", "torchtune", "float8")


def place_of(row: dict[str, str]) -> str:
    """The program that drew a row, with its seed and case: "torchtitan-10003"."""
    return f"{row['source_note'].split('; ')[1].split()[0]}-{row['id'].rsplit('-', 1)[1]}"


def append(out: Path, row: dict[str, object]) -> None:
    """Appends a row, after a header where the file is empty."""
    with out.open("a", newline="") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        writer = csv.DictWriter(file, list(row), lineterminator="\n")
        if file.tell() == 0:
            writer.writeheader()
        writer.writerow(row)


def row_of(program, case, note: str, number: str, messages: bool) -> dict[str, object]:
    """The row of a case, which runs."""
    measured = program.measured(case, counted.count_messages if messages else counted.count_step)
    found = {
        key: f"{value:.4f}" if isinstance(value, float) else value
        for key, value in measured.items()
    }
    row = {"id": "", "source_note": note} | program.row_of(case)
    row["id"] = f"{row.pop('program')}_{row['kind_of_model']}-{number}"
    if messages:
        return row | found
    return row | {"memory_kind": "MemTracker, the peak of a step", "peak": "allocated"} | found


def main() -> int:
    words = [word for word in sys.argv[1:] if word != "--messages"]
    messages = len(words) < len(sys.argv) - 1
    name, out = words[0], Path(words[1])
    assert name in PROGRAMS, f"{name}: programs are {', '.join(PROGRAMS)}"
    count, seed, first = [int(word) for word in words[2:]] + [15, 1, 0][len(words) - 2 :]
    program = importlib.import_module(f"memory_programs.{name}_program")
    done = {place_of(row) for row in csv.DictReader(out.open())} if out.exists() else set()
    note = (
        "measured by this project with tools/judges/framework_memory.py on fake tensors; "
        f"{program.VERSIONS}, PyTorch {torch.__version__}"
    )
    failed = 0
    for place in range(first, first + count):
        number = f"{seed}{place:04}"
        if f"{name}-{number}" in done:
            continue
        case = program.draw(random.Random(f"{name} {seed} {place}"), place)
        if messages and getattr(case, "parallel", "") == "ddp":
            continue  # its reducer is not run
        try:
            append(out, row_of(program, case, note, number, messages))
        except Exception:  # the other cases run all the same
            traceback.print_exc()
            print(f"case {number} of {name} did not run: {case}", file=sys.stderr)
            failed += 1
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

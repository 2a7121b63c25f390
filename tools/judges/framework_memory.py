"""Counts the memory of training steps of real frameworks, at full size and without a GPU.

    python3 -B tools/judges/framework_memory.py PROGRAM OUT.csv [CASES [SEED]]

Programs of the frameworks (tools/judges/memory_programs/) run one step as one rank of many, on
tensors without contents. Models and plans are random draws. OUT is a table of measurements
(docs/formats.md) that `stepwright validate` reads, with what each kind has at the peak and what
stands after the step. The context of a device and what its allocator cannot use are not in it. OUT
is continued where it has rows of the same draw.
"""

from __future__ import annotations

import csv
import importlib
import random
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import torch

PROGRAMS = ("transformers", "torchtitan", "torchtune", "megatron")


def main() -> None:
    name, out = sys.argv[1], Path(sys.argv[2])
    assert name in PROGRAMS, f"{name}: programs are {', '.join(PROGRAMS)}"
    count = int(sys.argv[3]) if len(sys.argv) > 3 else 15
    seed = int(sys.argv[4]) if len(sys.argv) > 4 else 1
    program = importlib.import_module(f"memory_programs.{name}_program")
    dice = random.Random(seed)
    done = len(list(csv.DictReader(out.open()))) if out.exists() else 0
    note = (
        "measured by this project with tools/judges/framework_memory.py on fake tensors; "
        f"{program.VERSIONS}, PyTorch {torch.__version__}"
    )
    with out.open("a", newline="") as file:
        for place in range(count):
            case = program.draw(dice, place)
            if place < done:
                continue
            found = {key: f"{value:.4f}" for key, value in program.measured(case).items()}
            row = {"id": "", "source_note": note} | program.row_of(case)
            row["id"] = f"{row.pop('program')}_{row['kind_of_model']}-{seed}{place:04}"
            row |= {"memory_kind": "MemTracker, the peak of a step", "peak": "allocated"} | found
            writer = csv.DictWriter(file, list(row), lineterminator="\n")
            if place == 0:
                writer.writeheader()
            writer.writerow(row)
            file.flush()


if __name__ == "__main__":
    main()

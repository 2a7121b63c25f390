"""The zero-bubble family beside its published throughput: docs/accuracy/zero_bubble_published.md.

python3 tools/docs/zero_bubble_tables.py [COMMAND] -o docs/accuracy/zero_bubble_published.md
python3 tools/docs/zero_bubble_tables.py [COMMAND] --rows
"""

import argparse
import csv
import statistics
import sys
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from files import printed_to
from strands_tables import predicted

ROOT = Path(__file__).resolve().parents[2]
PUBLISHED = ROOT / "data/zero_bubble.csv"

INTRODUCTION = """# Zero-bubble schedules beside published figures

The table compares two throughputs (samples per GPU and second) of the same plans: measured by arXiv
2401.10241 (`data/zero_bubble.csv`: up to 32 A100 SXM 80G, pipelines alone, a fork of Megatron-LM)
and predicted by `stepwright predict`. Nothing was fitted to `data/zero_bubble.csv`.

- As in the article on zero-bubble schedules, the first and last pipeline stage have a layer fewer;
  interleaved and ZB-V have one layer per chunk.

- The authors find the schedules ZB-1p and ZB-2p by a search; predictions use zb-h1 and zb-h2
  instead, which hold as many activations.

- The article does not publish these settings, which are assumed: a vocabulary of 32,000, unfused
  attention with dropout (as the memory shows), one table for embedding and head, no sharding.
  Predictions use bf16 for fp16.

- Predicted GB are memory as `nvidia-smi` counts it.

Errors of samples per second and of the gain over 1F1B are in %.
"""

# What stands for each published schedule.
SCHEDULES = {
    "1F1B": "1f1b",
    "1F1B-I": "interleaved",
    "ZB-1p": "zb-h1",
    "ZB-2p": "zb-h2",
    "ZB-V": "zb-v",
}


def layers_of(row: dict[str, str], chunks: int) -> list[int]:
    """One layer fewer in the first and in the last chunk than in the others."""
    count = int(row["gpus"]) * chunks
    share = (int(row["layers"]) + 2) // count
    return [share - 1] + [share] * (count - 2) + [share - 1]


def sequences(row: dict[str, str]) -> int:
    """Of a batch."""
    return int(row["micro_batch"]) * int(row["micro_batches"])


def plan_text(row: dict[str, str]) -> str:
    """A plan of a row."""
    kind = SCHEDULES[row["schedule"]]
    chunks = {"zb-v": 2, "interleaved": (int(row["layers"]) + 2) // int(row["gpus"])}.get(kind, 1)
    hidden = int(row["hidden"])
    schedule = f"{{kind: {kind}, chunks: {chunks}}}"
    return f"""stepwright: plan/2
job:
  model:
    layers: {row["layers"]}
    hidden: {hidden}
    heads: {row["heads"]}
    ffn: {4 * hidden}
    gated: false
    activation: gelu
    norm: layernorm
    bias: true
    position: learned
    positions: {row["length"]}
    vocab: 32000
    tied: true
    dropout: 0.1
  cluster: {{profile: dgx-a100-80g, nodes: {int(row["gpus"]) // 8}}}
  batch: {{sequences: {sequences(row)}, length: {row["length"]}}}
  kernels: {{attention: unfused}}
  framework: megatron-core
parallel: {{pipeline: {row["gpus"]}}}
micro_batch: {row["micro_batch"]}
schedule: {schedule}
layers: {layers_of(row, chunks)}
sharding: NNN
"""


def samples(row: dict[str, str], seconds: float) -> float:
    """Sequences per GPU and second."""
    return sequences(row) / int(row["gpus"]) / seconds


@dataclass
class Row:
    """A published row beside what is predicted of it."""

    said: dict[str, str]
    published: float  # samples per GPU and second
    predicted: float
    memory_gb: float


def rows(command: str) -> list[Row]:
    """All of them; ends the program where a plan is refused."""
    found = []
    for said in csv.DictReader(PUBLISHED.open(encoding="utf-8")):
        answer = predicted(command, plan_text(said))
        if answer is None:
            raise SystemExit(f"{said}: refused")
        ours = samples(said, answer["step_time_s"])
        published = float(said["samples_per_gpu_per_s"])
        found.append(Row(said, published, ours, answer["peak_memory_bytes"] / 2**30))
    return found


def gain_cells(row: Row, base: Row) -> list[str]:
    """How much faster than 1F1B, published and predicted, and how far off."""
    if row is base:
        return ["", "", ""]
    published, ours = row.published / base.published, row.predicted / base.predicted
    return [f"{published:.3f}", f"{ours:.3f}", f"{100 * (ours / published - 1):+.1f} %"]


def line(row: Row, base: Row) -> str:
    """A line of the table."""
    said = row.said
    cells = [
        said["model"], said["gpus"], said["micro_batch"], said["micro_batches"], said["schedule"],
        said["samples_per_gpu_per_s"], f"{row.predicted:.3g}",
        f"{100 * (row.predicted / row.published - 1):+.1f} %", *gain_cells(row, base),
        said["memory_gb"], f"{row.memory_gb:.0f}",
    ]  # fmt: skip
    return "| " + " | ".join(cells) + " |"


def with_bases(found: list[Row]) -> list[tuple[Row, Row]]:
    """Each row with the 1F1B of its setting, which stands before it."""
    pairs = []
    for row in found:
        if row.said["schedule"] == "1F1B":
            base = row
        pairs.append((row, base))
    return pairs


def print_rows(command: str) -> None:
    """Prints a line for each row."""
    print(
        "| model | GPUs | micro-batch | micro-batches | schedule | published | predicted | off by "
        "| over 1F1B, published | predicted | off by | GB, published | predicted |"
    )
    print("|---" * 13 + "|")
    for row, base in with_bases(rows(command)):
        print(line(row, base))


def sums(name: str, pairs: list[tuple[Row, Row]]) -> str:
    """A line of the page: the errors of some rows."""
    off = [100 * (row.predicted / row.published - 1) for row, _ in pairs]
    gains = [
        abs(100 * (row.predicted / base.predicted * base.published / row.published - 1))
        for row, base in pairs
        if row is not base
    ]
    more = [
        row.memory_gb - float(row.said["memory_gb"]) for row, _ in pairs if row.said["memory_gb"]
    ]
    sizes = [abs(one) for one in off]
    cells = [name, str(len(pairs)), f"{statistics.median(sizes):.1f}", f"{max(sizes):.1f}"]
    cells.append(f"{statistics.median(off):+.1f}")
    cells += [f"{statistics.median(gains):.1f}", f"{max(gains):.1f}"] if gains else ["-", "-"]
    cells.append(f"{statistics.median(more):+.0f}" if more else "-")
    return "| " + " | ".join(cells) + " |"


def print_page(command: str) -> None:
    """Prints the errors of all rows, of each model and of each schedule."""
    print(INTRODUCTION)
    print(
        "| rows | n | samples, median | worst | signed median | gain, median | worst "
        "| GB more than printed, median |"
    )
    print("|---" * 8 + "|")
    pairs = with_bases(rows(command))
    print(sums("all", pairs))
    for key in ("model", "schedule"):
        for name in dict.fromkeys(row.said[key] for row, _ in pairs):
            print(sums(name, [pair for pair in pairs if pair[0].said[key] == name]))


def main() -> None:
    """Writes the page."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("command", nargs="?", default=str(ROOT / "build/release/stepwright"))
    parser.add_argument("-o", "--output", type=Path, help="else standard output")
    parser.add_argument("--rows", action="store_true", help="each row instead of the page")
    options = parser.parse_args()
    with printed_to(options.output):
        (print_rows if options.rows else print_page)(options.command)


if __name__ == "__main__":
    main()

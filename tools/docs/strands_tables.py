"""Two strands beside published figures of DHelix and its successor.

python3 tools/docs/strands_tables.py [COMMAND] -o docs/accuracy/strands_published.md
python3 tools/docs/strands_tables.py [COMMAND] --earlier
"""

import argparse
import json
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from files import printed_to

ROOT = Path(__file__).resolve().parents[2]

INTRODUCTION = """# Two strands beside published figures

The table compares predicted MFU with the MFU that the authors of TWIST report for Megatron and for
two strands (two micro-batches at once on a GPU) ("Introducing TWIST: Bringing Double-Helix Training
to Hopper", blog of March 2026: DHelix on Megatron core 0.14, without the first release's mistake).
Predictions assume layers, heads and vocabulary of TWIST's models, sharding NNG (ZeRO-1), no
recomputation and cluster profiles. Megatron's runs are predicted with pipeline schedule `1f1b`, and
tensor-parallel messages that overlap weight gradients. Runs of two strands (two micro-batches at
once on a GPU) are predicted with pipeline schedule `folded`, or `paired` without a pipeline.
Constants of Megatron-Core were fitted to other runs. No MFU is published for pipeline schedule
`dualpipev`, which runs two micro-batches at once with a smaller bubble.

    make strands
"""


# The tables of 2024 and 2025, whose shapes, batches and lengths are not published.
EARLIER = """
## The tables of 2024

`python3 tools/docs/strands_tables.py --earlier` compares predictions with published TFLOP/s of
DHelix and DHeLlam (2411.15871 and ICCD 2025) on 64 A40 and 64 A800. DHelix and DHeLlam name models
by size alone; their batch, recomputation and sharding are assumed. Gains published for DHelix and
DHeLlam are too large, because they were measured before a mistake was found (some gradients were
zero). The 14 predicted gains of DHelix and DHeLlam are off by 14.5 % in the median and 18.1 % at
most. Ten of the 14 gains are predicted over 10 % too low; eight of these ten published values
exceed what hiding every message would give.
"""


@dataclass(frozen=True)
class Setup:
    name: str
    model: str
    cluster: str
    sequences: int
    length: int
    tensor: int
    pipeline: int
    data: int
    micro_batch: int
    megatron: float
    strands: float
    context: int = 1
    recompute: str = "none"


LARGE = (
    "{layers: 64, hidden: 5120, heads: 64, kv_heads: 8, head_dim: 128, ffn: 25600, vocab: 151936}"
)
SMALL = (
    "{layers: 40, hidden: 5120, heads: 40, kv_heads: 8, head_dim: 128, ffn: 17408, vocab: 151936}"
)
H800 = "{profile: h800-8gpu, nodes: 4}"
H200 = "{profile: dgx-h200, nodes: 1}"
SETUPS = [
    Setup("14B, 8 H200, 8K", SMALL, H200, 100, 8192, 4, 2, 1, 4, 46, 49),
    Setup("14B, 8 H200, 8K", SMALL, H200, 100, 8192, 8, 1, 1, 4, 41, 47),
    Setup("32B, 32 H800, 4K", LARGE, H800, 400, 4096, 2, 4, 4, 1, 47.27, 55.49),
    Setup("32B, 32 H800, 4K", LARGE, H800, 400, 4096, 4, 2, 4, 2, 44.73, 55.81),
    Setup("32B, 32 H800, 4K", LARGE, H800, 400, 4096, 8, 1, 4, 2, 36.11, 46.13),
    Setup("32B, 32 H800, 8K", LARGE, H800, 400, 8192, 4, 2, 4, 1, 46.08, 52.00),
    Setup("32B, 32 H800, 8K", LARGE, H800, 400, 8192, 8, 1, 4, 1, 37.40, 48.09),
]


A40 = "{profile: a40-8gpu-pcie, nodes: 8}"
A800 = "{profile: a800-8gpu, nodes: 8}"
LLAMA_8B = "{layers: 32, hidden: 4096, heads: 32, kv_heads: 8, ffn: 14336, vocab: 128256}"
LLAMA_25B = "{layers: 48, hidden: 6144, heads: 48, kv_heads: 8, ffn: 21504, vocab: 128256}"
LLAMA_39B = "{layers: 54, hidden: 8192, heads: 64, kv_heads: 8, ffn: 22016, vocab: 128256}"
LLAMA_66B = "{layers: 76, hidden: 8192, heads: 64, kv_heads: 8, ffn: 28672, vocab: 128256}"
GPT = (
    "gated: false, activation: gelu, norm: layernorm, position: learned, positions: 32768,"
    " vocab: 50257"
)


def earlier(
    name: str,
    model: str,
    degrees: tuple[int, ...],
    published: tuple[float, float],
    *,
    cluster: str = A40,
    length: int = 4096,
) -> Setup:
    """A row of the tables of 2024; degrees are data, tensor, context, pipeline."""
    data, tensor, context, pipeline = degrees
    return Setup(
        name, model, cluster, 256 if length == 4096 else 64, length, tensor, pipeline, data, 1,
        *published, context=context, recompute="selective",
    )  # fmt: skip


def gpt(layers: int, hidden: int, heads: int) -> str:
    """A model of GPT-3's kind."""
    return f"{{layers: {layers}, hidden: {hidden}, heads: {heads}, ffn: {4 * hidden}, {GPT}}}"


LONG = 16384
EARLIER_SETUPS = [
    earlier("Llama-8B, 64 A40", LLAMA_8B, (16, 4, 1, 1), (64.4, 84.1)),
    earlier("Llama-25B, 64 A40", LLAMA_25B, (8, 8, 1, 1), (53.9, 75.7)),
    earlier("Llama-39B, 64 A40", LLAMA_39B, (4, 8, 1, 2), (68.1, 86.3)),
    earlier("GPT-6.7B, 64 A40", gpt(32, 4096, 32), (16, 4, 1, 1), (61.6, 77.4)),
    earlier("GPT-18B, 64 A40", gpt(40, 6144, 48), (8, 8, 1, 1), (40.6, 56.9)),
    earlier("GPT-30B, 64 A40", gpt(48, 7168, 56), (4, 8, 1, 2), (57.8, 78.6)),
    earlier("Llama-8B, 64 A40, 16K", LLAMA_8B, (8, 4, 2, 1), (59.8, 78.0), length=LONG),
    earlier("Llama-25B, 64 A40, 16K", LLAMA_25B, (4, 8, 2, 1), (38.4, 50.0), length=LONG),
    earlier("Llama-39B, 64 A40, 16K", LLAMA_39B, (2, 8, 2, 2), (51.9, 72.0), length=LONG),
    earlier("GPT-6.7B, 64 A40, 16K", gpt(32, 4096, 32), (8, 4, 2, 1), (57.3, 75.1), length=LONG),
    earlier("GPT-18B, 64 A40, 16K", gpt(40, 6144, 48), (4, 8, 2, 1), (28.4, 34.6), length=LONG),
    earlier("GPT-30B, 64 A40, 16K", gpt(48, 7168, 56), (2, 8, 2, 2), (41.9, 51.4), length=LONG),
    earlier(
        "Llama-66B, 64 A800, 16K", LLAMA_66B, (2, 8, 2, 2), (186, 199.7), cluster=A800, length=LONG
    ),
    earlier(
        "Llama-66B, 64 A800, 32K",
        LLAMA_66B,
        (1, 8, 4, 2),
        (160.9, 199.7),
        cluster=A800,
        length=2 * LONG,
    ),
]


def plan_text(setup: Setup, schedule: str) -> str:
    return f"""stepwright: plan/2
job:
  model: {setup.model}
  cluster: {setup.cluster}
  batch: {{sequences: {setup.sequences}, length: {setup.length}}}
  framework: megatron-core
parallel:
  tensor: {setup.tensor}
  context: {setup.context}
  pipeline: {setup.pipeline}
  data: {setup.data}
context_kind: ring
recompute: {setup.recompute}
sequence_parallel: true
micro_batch: {setup.micro_batch}
schedule: {schedule}
sharding: NNG
"""


def predicted(command: str, text: str) -> dict | None:
    """What `predict` says of a plan; nothing where it is refused."""
    with tempfile.TemporaryDirectory() as directory:
        plan = Path(directory) / "plan.yaml"
        plan.write_text(text, encoding="utf-8")
        run = subprocess.run(
            [command, "predict", str(plan), "--json"], capture_output=True, text=True, check=False
        )
    if run.returncode not in (0, 1) or not run.stdout:
        print(run.stderr, file=sys.stderr)
        return None
    return json.loads(run.stdout)


def shown(value: float | None, digits: int = 1) -> str:
    return "-" if value is None else f"{value:.{digits}f}"


def rates(command: str, setup: Setup) -> tuple[dict, dict, dict | None]:
    """One strand, two strands, and two of them in a smaller bubble."""
    plain = predicted(command, plan_text(setup, "1f1b"))
    pairs = "{kind: folded, strands: 2}" if setup.pipeline > 1 else "{kind: paired, strands: 2}"
    strands = predicted(command, plan_text(setup, pairs))
    if plain is None or strands is None:
        raise SystemExit(f"{setup.name}: refused")
    dual = "{kind: dualpipev, strands: 2}"
    return (
        plain,
        strands,
        predicted(command, plan_text(setup, dual)) if setup.pipeline > 1 else None,
    )


def most_gain(plain: dict) -> float:
    """What hiding every message inside layers would gain, as predicted."""
    exposed = plain["breakdown"]["exposed"]
    hidden = exposed["tensor_s"] + exposed["context_s"]
    return plain["step_time_s"] / (plain["step_time_s"] - hidden)


def row(command: str, setup: Setup, key: str, unit: float) -> tuple[str, float]:
    """A line of a table, and how far off its gain is. `key`: what of an answer, in `unit`."""
    plain, strands, dual = rates(command, setup)
    published = setup.strands / setup.megatron
    gain = strands[key] / plain[key]
    cells = [
        setup.name,
        f"{setup.tensor}, {setup.context}, {setup.pipeline}, {setup.data}",
        str(setup.micro_batch),
        shown(setup.megatron, 2),
        shown(unit * plain[key], 2),
        shown(setup.strands, 2),
        shown(unit * strands[key], 2),
        f"{published:.3f}",
        f"{gain:.3f}",
        f"{most_gain(plain):.3f}",
        f"{100 * (gain / published - 1):+.1f} %",
        shown(unit * dual[key] if dual else None, 2),
    ]
    return "| " + " | ".join(cells) + " |", abs(gain / published - 1)


def table(command: str, setups: list[Setup], key: str, unit: float) -> None:
    """Prints a table and its misses."""
    print(
        "| run | tensor, context, pipeline, data | micro-batch | Megatron, published | predicted "
        "| two strands, published | predicted | gain, published | predicted | at most | off by "
        "| dualpipev |"
    )
    print("|---" * 12 + "|")
    misses = []
    for setup in setups:
        text, miss = row(command, setup, key, unit)
        misses.append(miss)
        print(text)
    misses.sort()
    print(
        "\nPredicted gains of two strands (two micro-batches at once) are off by "
        f"{100 * misses[len(misses) // 2]:.1f} % in "
        f"the median, {100 * misses[-1]:.1f} % at most."
    )


def print_page(command: str) -> None:
    """Prints the table of the newest runs, and what the earlier ones say."""
    print(INTRODUCTION)
    table(command, SETUPS, "mfu", 100)
    print(EARLIER, end="")


def print_earlier(command: str) -> None:
    """Prints the table of the runs of 2024."""
    table(command, EARLIER_SETUPS, "tflops_per_device", 1)


def main() -> None:
    """Writes the page."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("command", nargs="?", default=str(ROOT / "build/release/stepwright"))
    parser.add_argument("-o", "--output", type=Path, help="else standard output")
    parser.add_argument("--earlier", action="store_true", help="the table of 2024 instead")
    options = parser.parse_args()
    with printed_to(options.output):
        (print_earlier if options.earlier else print_page)(options.command)


if __name__ == "__main__":
    main()

"""Two strands beside the published figures of DHelix's successor: docs/strands_published.md.

python3 tools/strands_tables.py [COMMAND] > docs/strands_published.md
"""

import json
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

INTRODUCTION = """# Two strands beside published figures

MFU that the authors of TWIST ("Introducing TWIST: Bringing Double-Helix Training to Hopper", blog
of March 2026: DHelix on Megatron core 0.14, after the first release's mistake was found) report
for Megatron and for two strands, and what `stepwright predict` says of the same plans. The models'
layers, heads and vocabulary, sharding (NNG), no recomputation and the profiles of the clusters are
assumed. "Megatron" is 1f1b with reductions and gathers beside weight gradients, two strands are the
folded pipeline, or pairs on one position. Both have Megatron-Core's conditions, which were
fitted to other runs. `dualpipev` has two strands too and a smaller bubble: nobody published it.

    make strands
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


def plan_text(setup: Setup, schedule: str) -> str:
    return f"""stepwright: plan/2
job:
  model: {setup.model}
  cluster: {setup.cluster}
  batch: {{sequences: {setup.sequences}, length: {setup.length}}}
  framework: megatron-core
parallel: {{tensor: {setup.tensor}, pipeline: {setup.pipeline}, data: {setup.data}}}
sequence_parallel: true
micro_batch: {setup.micro_batch}
schedule: {schedule}
sharding: NNG
"""


def mfu(command: str, setup: Setup, schedule: str) -> float | None:
    """Percent; nothing where the plan is refused."""
    with tempfile.TemporaryDirectory() as directory:
        plan = Path(directory) / "plan.yaml"
        plan.write_text(plan_text(setup, schedule))
        run = subprocess.run(
            [command, "predict", str(plan), "--json"], capture_output=True, text=True, check=False
        )
    if run.returncode not in (0, 1) or not run.stdout:
        print(run.stderr, file=sys.stderr)
        return None
    return 100 * json.loads(run.stdout)["mfu"]


def shown(value: float | None, digits: int = 1) -> str:
    return "-" if value is None else f"{value:.{digits}f}"


def row(command: str, setup: Setup) -> tuple[str, float]:
    plain = mfu(command, setup, "1f1b")
    pairs = "{kind: folded, strands: 2}" if setup.pipeline > 1 else "{kind: paired, strands: 2}"
    strands = mfu(command, setup, pairs)
    dual = mfu(command, setup, "{kind: dualpipev, strands: 2}") if setup.pipeline > 1 else None
    if plain is None or strands is None:
        raise SystemExit(f"{setup.name}: refused")
    published = setup.strands / setup.megatron
    predicted = strands / plain
    cells = [
        setup.name,
        f"{setup.tensor}, {setup.pipeline}, {setup.data}",
        str(setup.micro_batch),
        shown(setup.megatron, 2),
        shown(plain, 2),
        shown(setup.strands, 2),
        shown(strands, 2),
        f"{published:.3f}",
        f"{predicted:.3f}",
        f"{100 * (predicted / published - 1):+.1f} %",
        shown(dual, 2),
    ]
    return "| " + " | ".join(cells) + " |", abs(predicted / published - 1)


def main() -> None:
    command = sys.argv[1] if len(sys.argv) > 1 else str(ROOT / "build/release/stepwright")
    print(INTRODUCTION)
    print(
        "| run | tensor, pipeline, data | micro-batch | Megatron, published | predicted "
        "| two strands, published | predicted | gain, published | predicted | off by | dualpipev |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    misses = []
    for setup in SETUPS:
        text, miss = row(command, setup)
        misses.append(miss)
        print(text)
    misses.sort()
    print(
        f"\nGains are off by {100 * misses[len(misses) // 2]:.1f} % in the median, "
        f"{100 * misses[-1]:.1f} % at most."
    )


if __name__ == "__main__":
    main()

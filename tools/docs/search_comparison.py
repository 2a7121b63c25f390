"""Compares what `stepwright tune` chooses with two other ways to choose a plan, and with practice.

    tools/docs/search_comparison.py --command build/release/stepwright -o docs/search.md

Runs `stepwright study search` on the jobs below and writes docs/search.md. Run it again (`make
search`) after a change of the cost model.
"""

import argparse
import itertools
import re
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from files import printed_to
from search_practice import practice

ROOT = Path(__file__).resolve().parents[2]

INTRODUCTION = """# What other searches choose

Written by `tools/docs/search_comparison.py` (`make search`). Three ways to choose a plan, on the
same cost model, each plan simulated (`stepwright study search JOB`):

- **stepwright**: `tune`, the whole space of the job.
- **rule of thumb**: what an expert runs without a search, by the guides of Megatron-LM and
  Megatron-Core (2104.04473, 2205.05198): the smallest tensor x pipeline that fits, tensor inside
  a node, experts inside a node first, sequence parallelism with tensor, micro-batch 1, 1F1B,
  optimizer states split over the data ranks, selective before full recomputation, context only
  where nothing fits without (`tune/baseline.h`).
- **Alpa-style**: stages cut by a dynamic programme outside, every choice on a stage's devices
  inside (2201.12023, `study/inter_operator.h`). As in Alpa there is no interleaving, no context
  parallelism and no sharding in groups. "Evaluated" counts plans priced and, for Alpa's, pairs
  of a stage and a choice.

Seconds of the search are wall clock on one machine with two cores and differ from run to run;
those below are of cores that other work kept busy, several times what an idle machine takes
([bench](../bench/README.md) has processor time). The last column is the step time over that of
stepwright's plan.
"""

WORSE = """Here `tune` is not the best: the price that it minimises was too low for the plan
that it chose ({chosen}), which shows only in the simulation; another plan is faster.
"""

TIMES = """## Time of a search

Processor time of whole commands before and after floors count what hosts issue and bounds reach up
to a plan that fits, and the optimality gap, on one machine
([bench](../bench/README.md) has the jobs, says what changed and how it was measured):

| command | before | after | gap before | gap after |
|---|---:|---:|---:|---:|
| `tune` of DeepSeek-V3 on 16,384 GPUs, 16,384 sequences | 11.6 s | 8.9 s | 2.4 % | 2.0 % |
| the same for Megatron-Core (`framework: megatron-core`) | 17.1 s | 10.5 s | 20.5 % | 2.0 % |
| `check` of Qwen3-235B on 256 GPUs, a script of Megatron-LM | 2.2 s | 1.3 s | | |
| `tune` of 2,000 layers on 128 GPUs | 1.9 s | 1.4 s | 1.4 % | 1.4 % |
| `tune examples/llama-3.1-405b.yaml` | 1.09 s | 1.02 s | 4.1 % | 4.1 % |
| `tune examples/mixtral-8x7b.yaml --json` | 1.43 s | 1.21 s | | |
"""

CLAIMS = """## Beside published claims

- A published planner claims 1.36 times the speed of Megatron-LM's own configurations. Here the
  rule of thumb takes {rule_mean:.2f} times as long as the plan of `tune` (geometric mean of
  {rules} jobs, least {rule_least:.2f}).
- It claims the same choice as Alpa on Alpa's jobs. Here the Alpa-style plan takes
  {alpa_mean:.2f} times as long (geometric mean of {alpas} jobs, least {alpa_least:.2f}); it is
  slower where interleaving, context parallelism or sharding in groups win.
- These are predictions of one cost model for all three, so they say what the searches find in
  it, not what a cluster would measure; its error on published runs is in
  [accuracy.md](accuracy.md).
"""

# Title and job; a path, or the text below `stepwright: job/1`.
JOBS = [
    ("Dense, 40 GB devices", "examples/inline-model.yaml"),
    ("Dense, one pod", "examples/llama-3-70b.yaml"),
    (
        "Dense, Megatron-LM's GPT-3",
        "model: gpt3-175b\n"
        "cluster: {profile: dgx-a100-80g, nodes: 128}\n"
        "batch: {sequences: 1536, length: 2048}\n",
    ),
    ("Dense, a trillion parameters", "examples/gpt-1t.yaml"),
    ("Dense, 16,384 devices", "examples/llama-3.1-405b.yaml"),
    ("Mixture of experts, 8 experts", "examples/mixtral-8x7b.yaml"),
    (
        "Mixture of experts, 128 experts",
        "model: qwen3-235b-a22b\n"
        "cluster: {profile: dgx-h100, nodes: 32}\n"
        "batch: {sequences: 2048, length: 4096}\n",
    ),
    (
        "Mixture of experts, 61 layers",
        "model: deepseek-v3\n"
        "cluster: {profile: h800-8gpu, nodes: 256}\n"
        "batch: {sequences: 15360, length: 4096}\n"
        "precision: fp8\n",
    ),
    ("Long context", "examples/long-context.yaml"),
    ("Few NICs, two for four devices", "examples/own-cluster.yaml"),
    (
        "Few NICs, one a node",
        "model: llama-3-70b\n"
        "cluster: {profile: dgx-h100, nodes: 8, nics_per_node: 1}\n"
        "batch: {sequences: 512, length: 8192}\n",
    ),
]


def compare(command: str, job: str) -> list[str]:
    """The lines that the command prints for a job."""
    with tempfile.TemporaryDirectory() as folder:
        path = ROOT / job
        if "\n" in job:
            path = Path(folder, "job.yaml")
            path.write_text("stepwright: job/1\n" + job, encoding="utf-8")
        done = subprocess.run(
            [command, "study", "search", path], capture_output=True, text=True, check=False
        )
    if done.returncode != 0:
        sys.exit(f"{job}: {done.stderr}")
    return done.stdout.splitlines()


def table(lines: list[str]) -> list[list[str]]:
    """The rows below the rule of a table."""
    rule = next(i for i, line in enumerate(lines) if line.startswith("---"))
    rows = itertools.takewhile(str.strip, lines[rule + 1 :])
    return [re.split(r"\s{2,}", line.strip()) for line in rows]


def geometric_mean(values: list[float]) -> float:
    """Of positive numbers."""
    product = 1.0
    for value in values:
        product *= value
    return product ** (1 / len(values))


def print_page(command: str) -> int:
    """Prints the document; 1 when another way chose a better plan."""
    print(INTRODUCTION)
    ratios: dict[str, list[float]] = {"rule of thumb": [], "Alpa-style": []}
    for title, job in JOBS:
        lines = compare(command, job)
        print(f"## {title}\n\n{lines[0]}\n")
        print("| by | plan | step | evaluated | search | ratio |\n|---|---|---:|---:|---:|---:|")
        rows = table(lines)
        for row in rows:
            by, plan, step, ratio, evaluated, took = (*row, "", "", "")[:6]
            print(f"| {by} | `{plan}` | {step} | {evaluated} | {took} | {ratio} |")
            if by in ratios and ratio:
                ratios[by].append(float(ratio))
        print(flush=True)
        if any(len(row) > 3 and float(row[3]) < 1 for row in rows):
            print(WORSE.format(chosen=rows[0][1]))
    print(TIMES)
    rule, alpa = ratios["rule of thumb"], ratios["Alpa-style"]
    print(
        CLAIMS.format(
            rule_mean=geometric_mean(rule),
            rules=len(rule),
            rule_least=min(rule),
            alpa_mean=geometric_mean(alpa),
            alpas=len(alpa),
            alpa_least=min(alpa),
        )
    )
    print(practice(command).rstrip())
    return 0 if min(rule + alpa) >= 1 else 1


def main() -> int:
    """Writes the document; 1 when another way chose a better plan."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--command", default="build/release/stepwright")
    parser.add_argument("-o", "--output", type=Path, help="else standard output")
    options = parser.parse_args()
    with printed_to(options.output):
        return print_page(options.command)


if __name__ == "__main__":
    sys.exit(main())

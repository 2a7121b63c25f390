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

This page (`make search`) compares three ways to choose a training plan by the same predictions of
step time. `stepwright study search JOB` compares the three ways for any job, with the number of
plans that each way evaluated.

- **tune** searches all plans that the job allows.

- **Rule of thumb**: what an expert runs without a search, by the guides of Megatron-LM and
  Megatron-Core (2104.04473, 2205.05198): the smallest tensor x pipeline degree that fits, tensor
  and expert ranks inside a node, micro-batch 1, 1F1B and ZeRO-1 (`tune/baseline.h`).

- **Alpa-style**: a dynamic programme cuts the model into stages, an inner search tries every choice
  on a stage's devices (2201.12023, `study/inter_operator.h`). As in Alpa, plans of the Alpa-style
  search have no interleaving, no context parallelism and no sharding in groups.

Columns "over" have the step time of a plan divided by the step time of `tune`'s plan.
[bench](../bench/README.md) has the times of searches.
"""

HEAD = (
    "| job | plan of `tune` | step | rule of thumb | over | Alpa-style | over |\n"
    "|---|---|---:|---|---:|---|---:|"
)

WORSE = """
{job}: `tune` is not the best: the price that it minimises was too low for the plan
that it chose ({chosen}), which shows only in the simulation; another plan is faster.
"""

CLAIMS = """## Beside published claims

- An article about another planner states that its plans are 1.36 times as fast as Megatron-LM's own
  configurations. In the table the rule of thumb takes {rule_mean:.2f} times as long as the plan of
  `tune` (geometric mean of {rules} jobs, least {rule_least:.2f}).

- An article about another planner also states that this planner chooses the same plans as Alpa for
  Alpa's jobs. In the table the Alpa-style plan takes {alpa_mean:.2f} times as long as that of
  `tune` (geometric mean of {alpas} jobs, least {alpa_least:.2f}); it is slower where interleaving,
  context parallelism or sharding in groups win.

- The step times of all compared plans are predicted, not measured ([errors](accuracy.md)).
"""

# A path, or the text below `stepwright: job/1`.
JOBS = [
    "examples/inline-model.yaml",
    "examples/llama-3-70b.yaml",
    (
        "model: gpt3-175b\n"
        "cluster: {profile: dgx-a100-80g, nodes: 128}\n"
        "batch: {sequences: 1536, length: 2048}\n"
    ),
    "examples/gpt-1t.yaml",
    "examples/llama-3.1-405b.yaml",
    "examples/mixtral-8x7b.yaml",
    (
        "model: qwen3-235b-a22b\n"
        "cluster: {profile: dgx-h100, nodes: 32}\n"
        "batch: {sequences: 2048, length: 4096}\n"
    ),
    (
        "model: deepseek-v3\n"
        "cluster: {profile: h800-8gpu, nodes: 256}\n"
        "batch: {sequences: 15360, length: 4096}\n"
        "precision: fp8\n"
    ),
    "examples/long-context.yaml",
    "examples/own-cluster.yaml",
    (
        "model: llama-3-70b\n"
        "cluster: {profile: dgx-h100, nodes: 8, nics_per_node: 1}\n"
        "batch: {sequences: 512, length: 8192}\n"
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
    worse = []
    print(HEAD)
    for job in JOBS:
        lines = compare(command, job)
        rows = table(lines)
        found = {row[0]: (*row, "", "", "")[1:6] for row in rows}
        plan, step, _, _, _ = found["stepwright"]
        cells = [lines[0], f"`{plan}`", step]
        for by, kept in ratios.items():
            other, _, ratio, _, _ = found[by]
            cells += [f"`{other}`", ratio]
            if ratio:
                kept.append(float(ratio))
        print("| " + " | ".join(cells) + " |", flush=True)
        if any(len(row) > 3 and float(row[3]) < 1 for row in rows):
            worse.append(WORSE.format(job=lines[0], chosen=plan))
    print("".join(worse))
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

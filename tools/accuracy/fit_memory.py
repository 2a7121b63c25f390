"""Says how well memory is known: peaks left out, and the probability that a run fits.

    tools/accuracy/fit_memory.py --command build/release/stepwright \
        --report build/fits/memory_left_out.md

Peaks: the margins of a stack (`stepwright/memory/memory.h`: a share of what comes and goes, of
parameters, of optimizer states) are fitted again without each source, framework and generation of
devices, by least absolute relative error; what no other peak of the framework shows falls to what
its public code and its siblings say (`DOCUMENTED`). Labels (fits, ran out of memory): P(fits |
share of the capacity), fitted without each model and size in turn.
"""

import argparse
import csv
import itertools
import json
import math
import subprocess
import sys
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from files import replace_text
from fit_conditions import generation_of

TABLES = ("data/memory.csv", "data/memory_2.csv")
UNEXPLAINED = 0.02  # of the runs: labels that no model explains (memory/fit_probability.h)
BINS = 10
CONFIDENCE = 0.9
GIB = 2.0**30
# What the margins of a framework's file may be: share of what comes and goes, of parameters, of
# the optimizer.
SHARES = [0.05 * i for i in range(11)]
PARAMETERS = [0, 0.2, 0.4, 0.6, 0.8, 1.0, 1.2, 1.4, 1.6, 1.8]
OPTIMIZER = [0, 0.11, 0.22, 0.33, 0.44]
PRIOR = (0.15, 0.0, 0.0)
# What is known of a stack without any peak of it: the rounding of its time, which the labels of
# another stack of 2022 and 2023 show, gradients in the stored type beside those in fp32, and the
# fp32 gradient of the own part (microsoft/DeepSpeed deepspeed/runtime/bf16_optimizer.py and
# deepspeed/runtime/zero/stage_1_and_2.py).
DOCUMENTED = {
    "megatron-deepspeed": (0.30, 1.0, 0.33),
    "deepspeed": (0.30, 1.0, 0.33),
    "megatron-lm": (0.30, 0.0, 0.0),
}
HELD = 0.002  # cost of a margin's distance from the prior, as an error of all rows
DYNAMIC = ("activations", "logits", "gathered_parameters", "communication_buffers")


@dataclass
class Peak:
    """A peak that was measured, and what the account says of its stage."""

    source: str
    framework: str
    generation: str
    measured: float
    predicted: float
    reserved: bool  # the allocator's margins are part of it
    dynamic: float
    parameters: float
    optimizer: float
    margin: float  # of the allocator, as it is

    def error(self, margins: tuple[float, float, float]) -> float:
        """With other margins."""
        share, of_parameters, of_optimizer = margins
        own = share * self.dynamic + of_parameters * self.parameters + of_optimizer * self.optimizer
        return (self.predicted - self.margin + own * self.reserved) / self.measured - 1


def validated(command: str, table: str) -> list[dict]:
    """The predictions of a table."""
    done = subprocess.run(
        [command, "validate", table, "--json"], capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        sys.exit(done.stderr)
    return json.loads(done.stdout)["results"]


def rows_of(table: str) -> dict[str, dict[str, str]]:
    """The rows of a table by id."""
    with Path(table).open(newline="", encoding="utf-8") as file:
        return {row["id"]: row for row in csv.DictReader(file)}


def peaks_of(command: str) -> list[Peak]:
    """Every peak whose kind is stated."""
    found = []
    for table in TABLES:
        rows = rows_of(table)
        for one in validated(command, table):
            if not one.get("measured"):
                continue
            terms = one["terms"]
            kind = rows[one["id"]]["memory_kind"]
            allocated = "reserved" not in kind and "nvidia-smi" not in kind
            parts = sum(v for k, v in terms.items() if k != "framework_reserve")
            fixed = 2.7 * GIB if "nvidia-smi" in kind else 0.0
            found.append(
                Peak(
                    source=one["source"],
                    framework=one["framework"],
                    generation=generation_of(one["device"]),
                    measured=one["measured"],
                    predicted=one["predicted"],
                    reserved=not allocated,
                    dynamic=sum(terms[k] for k in DYNAMIC),
                    parameters=terms["parameters"],
                    optimizer=terms["optimizer"],
                    margin=0.0 if allocated else max(0.0, one["predicted"] - parts - fixed),
                )
            )
    return found


def fitted_margins(framework: str, peaks: list[Peak]) -> tuple[float, float, float]:
    """The margins with the least mean error on peaks of a framework, near what is documented."""
    known = DOCUMENTED.get(framework, PRIOR)
    judged = [p for p in peaks if p.framework == framework and p.reserved]
    if not judged:
        return known

    def cost(margins: tuple[float, float, float]) -> float:
        far = sum(abs(a - b) for a, b in zip(margins, known, strict=True))
        return sum(min(abs(p.error(margins)), 0.5) for p in judged) / len(judged) + HELD * far

    return min(itertools.product(SHARES, PARAMETERS, OPTIMIZER), key=cost)


def left_out(peaks: list[Peak], word: str) -> list[float]:
    """Errors of every peak by margins that saw nothing of its source, framework or generation."""
    errors = []
    fits: dict[tuple[str, str], tuple[float, float, float]] = {}
    for peak in peaks:
        key = (getattr(peak, word), peak.framework)
        if key not in fits:
            others = [p for p in peaks if getattr(p, word) != key[0]]
            fits[key] = fitted_margins(peak.framework, others)
        errors.append(peak.error(fits[key]))
    return errors


def line(name: str, errors: list[float]) -> str:
    """A row of the report."""
    size = sorted(abs(e) for e in errors)
    middle = size[len(size) // 2]
    signed = sorted(errors)[len(errors) // 2]
    p90 = size[math.ceil(0.9 * len(size)) - 1]
    cells = (len(size), 100 * middle, 100 * sum(size) / len(size), 100 * p90, 100 * signed)
    return "| {} | {} | {:.1f} | {:.1f} | {:.1f} | {:+.1f} |".format(name, *cells)


def peak_report(peaks: list[Peak]) -> list[str]:
    """Lines on peaks."""
    lines = ["| peaks | n | median | mean | p90 | signed median |", "|---|---|---|---|---|---|"]
    tables = {"fitted": [p.predicted / p.measured - 1 for p in peaks]}
    for word in ("source", "framework", "generation"):
        tables[word] = left_out(peaks, word)
    for word, errors in tables.items():
        lines.append(line("fitted" if word == "fitted" else f"its {word} left out", errors))
    for source in sorted({p.source for p in peaks}):
        own = [i for i, p in enumerate(peaks) if p.source == source]
        fitted, without = (line("", [tables[w][i] for i in own])[4:] for w in ("fitted", "source"))
        if fitted == without:
            lines.append(f"| {source}, fitted and left out |{fitted}")
        else:
            lines += [f"| {source}, fitted |{fitted}", f"| {source}, left out |{without}"]
    return lines


@dataclass
class Label:
    """A run of which it is known whether it fitted."""

    group: str  # model and size
    share: float  # logarithm of the accounted peak over the capacity
    fits: bool


def labels_of(command: str) -> list[Label]:
    """Every label."""
    found = []
    for table in TABLES:
        rows = rows_of(table)
        for one in validated(command, table):
            row = rows[one["id"]]
            if one.get("measured") or "capacity_bytes" not in one:
                continue
            share = math.log(one["predicted"] / one["capacity_bytes"])
            group = f"{row['model']} on {row['gpus']}"
            found.append(Label(group, share, "fits" in row["memory_kind"]))
    return found


def probability(share: float, mean: float, deviation: float) -> float:
    """P(fits), as `fit_probability`."""
    normal = 0.5 * math.erfc((share + mean) / deviation / math.sqrt(2))
    return UNEXPLAINED / 2 + (1 - UNEXPLAINED) * normal


def fitted_doubt(labels: list[Label]) -> tuple[float, float]:
    """Mean and deviation of the logarithm of needed over accounted bytes: most likely."""

    def likelihood(doubt: tuple[float, float]) -> float:
        total = 0.0
        for one in labels:
            p = probability(one.share, *doubt)
            total += math.log(p if one.fits else 1 - p)
        return total

    means = [0.005 * i for i in range(-20, 31)]
    deviations = [0.03 * 1.08**i for i in range(28)]
    return max(itertools.product(means, deviations), key=likelihood)


def label_report(labels: list[Label]) -> list[str]:
    """Lines on P(fits)."""
    doubt = fitted_doubt(labels)
    told: list[tuple[float, bool]] = []
    for group in sorted({one.group for one in labels}):
        without = fitted_doubt([one for one in labels if one.group != group])
        told += [(probability(o.share, *without), o.fits) for o in labels if o.group == group]
    brier = sum((p - fits) ** 2 for p, fits in told) / len(told)
    sure = [fits for p, fits in told if p >= CONFIDENCE]
    lines = [
        f"The logarithm of needed over predicted memory has mean {doubt[0]:.3f} and standard "
        f"deviation {doubt[1]:.3f}. The Brier score of P(fits),\nwith each model and number of "
        f"GPUs left out, is {brier:.3f} ({len(told)} runs). Of {len(sure)} runs with P(fits) of "
        f"{CONFIDENCE} and more {100 * sum(sure) / len(sure):.1f} % fitted.\n",
        "| P(fits) | runs | told | fitted |",
        "|---|---|---|---|",
    ]
    bins = defaultdict(list)
    for p, fits in told:
        bins[min(int(BINS * p), BINS - 1)].append((p, fits))
    for i in range(BINS):
        own = bins[i]
        if not own:
            continue
        mean = sum(p for p, _ in own) / len(own)
        share = sum(fits for _, fits in own) / len(own)
        lines.append(
            f"| {i / BINS:.1f} to {(i + 1) / BINS:.1f} | {len(own)} | {mean:.2f} | {share:.2f} |"
        )
    return lines


HEAD = """# Memory, left out

The table has errors of predicted memory peaks in `data/memory.csv` and `data/memory_2.csv`. Memory
margins of frameworks were fitted without the peaks of the same source, framework or GPU generation
(`tools/accuracy/fit_memory.py`). If a framework has no other measured peaks, its memory margins
come from its public code and from related frameworks. No memory margin was fitted to peaks of
allocated bytes.

"""
LABEL_HEAD = """
P(fits), the predicted probability that a run fits in memory, is compared with runs that fitted or
ran out of memory (nearly all of one source).

"""


def main() -> int:
    """Fits, judges, writes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--command", default="build/release/stepwright")
    parser.add_argument("--report", type=Path)
    options = parser.parse_args()
    text = HEAD + "\n".join(peak_report(peaks_of(options.command))) + "\n" + LABEL_HEAD
    text += "\n".join(label_report(labels_of(options.command))) + "\n"
    print(text)
    if options.report:
        replace_text(options.report, text)
    return 0


if __name__ == "__main__":
    sys.exit(main())

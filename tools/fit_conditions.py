"""Fits the conditions of training to published runs and says how far off the result is.

    tools/fit_conditions.py --command build/release/stepwright data/training_runs.csv

Fits the numbers of stepwright/cost/training/conditions.yaml by least absolute relative error with
priors (Gauss-Newton on logarithms, a numerical Jacobian from `stepwright validate --conditions`),
then once more with each source left out, and with the rows left out whose id's hash says so. The
errors of what was left out are exact predictions, not linear ones.
"""

import argparse
import csv
import hashlib
import json
import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

import numpy as np

NOISE = 0.1  # of a measurement, relative: what a prior of one sigma weighs against
FLOOR = 0.02  # errors below this are not told apart
STEP = 0.05  # of a logarithm, for the Jacobian
OTHER_TIERS = 0.3  # weight of rows that are not judged
LEFT_OUT = 0.25  # share of the rows


@dataclass(frozen=True)
class Constant:
    """One number of the file: its place, its prior, and how far the prior lets it go."""

    section: str
    of: str
    key: str
    prior: float
    common: float  # sigma of the logarithm that all places of the key share
    own: float  # sigma of what one place differs by
    low: float
    high: float
    offset: float = 0.0  # the logarithm is that of (value - offset)

    def value(self, x: float) -> float:
        """The number that a logarithm stands for, inside its limits."""
        return float(min(max(np.exp(x) + self.offset, self.low), self.high))

    @property
    def start(self) -> float:
        """The logarithm of the prior."""
        return float(np.log(self.prior - self.offset))


DEVICES = ["V100", "A100", "H100", "h200-sxm", "B200", "gb200", "b300-sxm", "gb300"]
NARROW = DEVICES[2:]
# Blackwell Ultra: 1.4 kW where Blackwell has 1.0 to 1.2 kW under the same peaks, and twice the
# exponentials of attention (NVIDIA's datasheets).
ULTRA = {"product_rate": 1.1, "narrow_product_rate": 1.1, "attention_rate": 1.2}
FRAMEWORKS = [
    "",
    "megatron-core",
    "nemo",
    "megatron-lm",
    "megatron-deepspeed",
    "deepspeed",
    "fsdp",
    "internevo",
    "maxtext",
]


def constants() -> list[Constant]:
    """Every number that is fitted."""
    found = []
    for device in DEVICES:
        own = {"product_rate": 0.025, "narrow_product_rate": 0.04, "flash1_rate": 0.025}
        keys = ["product_rate"] + ["narrow_product_rate"] * (device in NARROW)
        keys += ["attention_rate", "memory_rate", "inside_rate", "network_rate"]
        keys += ["flash1_rate"] * (device == "A100")
        for key in keys:
            prior = ULTRA.get(key, 1.0) if "b300" in device else 1.0
            rate = dict(section="devices", of=device, common=0.06, low=0.3, high=2.0)
            found.append(Constant(key=key, prior=prior, own=own.get(key, 0.05), **rate))
    for framework in FRAMEWORKS:
        of = dict(section="frameworks", of=framework, common=0.8, own=0.45)
        beside = dict(low=1.01, high=4, offset=1, **of)
        found += [
            Constant(key="host_us", prior=40, low=0.1, high=1000, **of),
            Constant(key="step_ms", prior=20, low=0.1, high=10000, **of),
            Constant(key="beside_inside", prior=1.2, **beside),
            Constant(key="beside_network", prior=1.15, **beside),
            Constant(key="tensor_exposed", prior=0.4, low=0.05, high=1, **of),
            Constant(key="expert_exposed", prior=0.25, low=0.05, high=1, **of),
        ]
    return found


def file_text(fitted: list[Constant], x: np.ndarray, source: str) -> str:
    """The YAML file with these numbers."""
    lines = ["stepwright: training/1", f'source: "{source}"']
    for section, name in (("devices", "device"), ("frameworks", "framework")):
        entries: dict[str, list[str]] = defaultdict(list)
        for constant, logarithm in zip(fitted, x, strict=True):
            if constant.section == section:
                entries[constant.of].append(f"{constant.key}: {constant.value(logarithm):.4g}")
        lines.append(f"{section}:" if entries else f"{section}: []")
        for of, numbers in entries.items():
            lines.append(f'  - {{{name}: "{of}", ' + ", ".join(numbers) + "}")
    return "\n".join(lines) + "\n"


class Runs:
    """Published runs and the command that predicts them."""

    def __init__(self, command: str, table: Path, tier: str):
        self.command = command
        with table.open(newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        self.columns = list(rows[0])
        self.rows = {row["id"]: row for row in rows if row["tier"] in tier}

    def predict(self, text: str, ids: list[str]) -> dict[str, dict]:
        """Results by id."""
        with tempfile.TemporaryDirectory() as folder:
            conditions = Path(folder, "conditions.yaml")
            conditions.write_text(text, encoding="utf-8")
            table = Path(folder, "runs.csv")
            with table.open("w", newline="", encoding="utf-8") as file:
                writer = csv.DictWriter(file, self.columns)
                writer.writeheader()
                writer.writerows(self.rows[i] for i in ids)
            done = subprocess.run(
                [self.command, "validate", table, "--json", "--conditions", conditions],
                capture_output=True,
                text=True,
                check=False,
            )
        if done.returncode != 0:
            sys.exit(done.stderr)
        return {result["id"]: result for result in json.loads(done.stdout)["results"]}


class Fit:
    """Gauss-Newton on the logarithms of predictions."""

    def __init__(self, runs: Runs):
        self.runs = runs
        first = runs.predict(file_text([], np.zeros(0), "start"), list(runs.rows))
        self.ids = list(first)
        self.results = first
        self.measured = np.log([first[i]["measured"] for i in self.ids])
        self.source = np.array([i.rsplit("-", 1)[0] for i in self.ids])
        self.judged = np.array([runs.rows[i]["tier"] == "A" for i in self.ids])
        self.constants = constants()
        self.prior = np.array([c.start for c in self.constants])
        self.precision = np.linalg.inv(self.covariance())
        counts = {s: (self.source == s).sum() for s in set(self.source)}
        self.weight = np.array([counts[s] ** -0.3 for s in self.source])
        experts = np.array([bool(runs.rows[i]["moe"]) for i in self.ids])
        others = np.where(experts, 0.0, OTHER_TIERS)  # experts of other tiers: too little stated
        self.weight = 2 * np.where(self.judged, 1.0, others) * self.weight

    def covariance(self) -> np.ndarray:
        """Of the prior: places of one key share a part."""
        every = self.constants
        matrix = np.diag([c.own**2 for c in every])
        for i, a in enumerate(every):
            for j, b in enumerate(every):
                if (a.section, a.key) == (b.section, b.key):
                    matrix[i, j] += a.common * b.common
        return matrix

    def affected(self, constant: Constant) -> np.ndarray:
        """Which rows a constant can change."""
        word = "device" if constant.section == "devices" else "framework"
        own = {c for c in (DEVICES if word == "device" else FRAMEWORKS)}
        generation = {"V100": "v100", "A100": "a", "H100": "h", "B200": "b"}.get(constant.of)
        found = []
        for i in self.ids:
            name = self.results[i][word]
            if constant.of == "" or (generation and word == "device"):
                found.append(name not in own and (not generation or name.startswith(generation)))
            else:
                found.append(name == constant.of)
        return np.array(found)

    def predict(self, x: np.ndarray, ids: list[str] | None = None) -> np.ndarray:
        """Logarithms of predictions."""
        text = file_text(self.constants, x, "trial")
        results = self.runs.predict(text, self.ids if ids is None else ids)
        return np.log([results[i]["predicted"] for i in (self.ids if ids is None else ids)])

    def jacobian(self, x: np.ndarray, base: np.ndarray) -> np.ndarray:
        """Change of each prediction with each logarithm."""
        columns = np.zeros((len(self.ids), len(x)))
        for k, constant in enumerate(self.constants):
            rows = np.flatnonzero(self.affected(constant))
            if len(rows) == 0:
                continue
            moved = x.copy()
            step = STEP if constant.section == "devices" else 4 * STEP
            if constant.value(x[k] + step) >= constant.high:
                step = -step
            moved[k] += step
            predicted = self.predict(moved, [self.ids[r] for r in rows])
            columns[rows, k] = (predicted - base[rows]) / step
        return columns

    def solve(self, x: np.ndarray, base: np.ndarray, jacobian: np.ndarray, use: np.ndarray):
        """The logarithms that fit the rows in `use`, by the linear model around `x`."""
        low = np.array([np.log(c.low - c.offset) for c in self.constants])
        high = np.array([np.log(c.high - c.offset) for c in self.constants])
        y = x.copy()
        for _ in range(25):
            error = base + jacobian @ (y - x) - self.measured
            weight = self.weight * use / np.maximum(np.abs(error), FLOOR) / NOISE
            left = jacobian.T @ (weight[:, None] * jacobian) + self.precision
            right = -jacobian.T @ (weight * error) - self.precision @ (y - self.prior)
            y = np.clip(y + 0.7 * np.linalg.solve(left, right), low, high)
            y = np.clip(y, x - 0.7, x + 0.7)
        return y

    def errors(self, x: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """Relative errors of some rows."""
        ids = [i for i, use in zip(self.ids, rows, strict=True) if use]
        return np.exp(self.predict(x, ids) - self.measured[rows]) - 1


def line(name: str, errors: np.ndarray) -> str:
    """A row of the report."""
    size = np.sort(np.abs(errors))
    return (
        f"| {name} | {len(size)} | {100 * np.median(size):.1f} | {100 * size.mean():.1f} | "
        f"{100 * size[int(np.ceil(0.9 * len(size))) - 1]:.1f} | {100 * np.median(errors):+.1f} |"
    )


HEADER = "| rows | n | median | mean | p90 | signed median |\n|---|---|---|---|---|---|"


def left_out_by_hash(ids: list[str]) -> np.ndarray:
    """A part of the rows that depends on nothing but their ids."""
    share = [int(hashlib.sha256(i.encode()).hexdigest()[:8], 16) / 2**32 for i in ids]
    return np.array(share) < LEFT_OUT


INTRODUCTION = """# Accuracy of whole runs

Written by `tools/fit_conditions.py --report`. Published training runs (`data/training_runs.csv`),
predicted by `stepwright validate`; errors are `predicted / measured - 1` in %, negative:
predicted too fast. "Fitted": the conditions of training
(`stepwright/cost/training/conditions.yaml`) saw the rows. "Left out": they did not, whole sources
at a time or a quarter of the rows by a hash of their ids; the structure of the model was chosen
while looking at residuals of all sources, the widths of the priors by the left-out error. Rows of
tier A.
"""


class Report:
    """Lines that are printed as they come, and written at the end."""

    def __init__(self):
        self.lines = [INTRODUCTION]

    def add(self, text: str) -> None:
        """Prints and keeps."""
        print(text, flush=True)
        self.lines.append(text)

    def rows(self, name: str, errors: np.ndarray) -> None:
        """A line of statistics."""
        if len(errors):
            self.add(line(name, errors))


def parts(fit: Fit, rows: np.ndarray) -> list[tuple[str, np.ndarray]]:
    """All, dense and sparse ones of some rows."""
    experts = np.array([bool(fit.runs.rows[i]["moe"]) for i in fit.ids])
    return [("all", rows), ("dense", rows & ~experts), ("with experts", rows & experts)]


def judge(fit: Fit, x: np.ndarray, report: Report) -> None:
    """Errors of the fit, of a quarter left out, and of each source left out."""
    base = fit.predict(x)
    jacobian = fit.jacobian(x, base)
    judged = fit.judged
    fitted = np.exp(base - fit.measured) - 1
    report.add(HEADER)
    for name, rows in parts(fit, judged):
        report.rows(f"{name}, fitted", fitted[rows])
    report.rows("tier B, fitted", fitted[~judged])
    quarter = left_out_by_hash(fit.ids) & judged
    left = np.zeros(len(fit.ids))
    left[quarter] = fit.errors(fit.solve(x, base, jacobian, ~quarter), quarter)
    for name, rows in parts(fit, quarter):
        report.rows(f"{name}, a quarter of the rows left out", left[rows])
    sources = sorted(set(fit.source[judged]))
    for source in sources:
        own = fit.source == source
        rows = own & judged
        left[rows] = fit.errors(fit.solve(x, base, jacobian, ~own), rows)
    for name, rows in parts(fit, judged):
        report.rows(f"{name}, its source left out", left[rows])
    report.add("\n## By source\n\n" + HEADER)
    for source in sources:
        rows = judged & (fit.source == source)
        report.rows(f"{source}, left out", left[rows])
        report.rows(f"{source}, fitted", fitted[rows])
    medians = [np.median(np.abs(left[judged & (fit.source == s)])) for s in sources]
    report.add(
        f"\nMedian of the left-out sources' medians: {100 * statistics.median(medians):.1f}."
    )


def main() -> int:
    """Fits, judges, writes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("table", type=Path)
    parser.add_argument("--command", default="build/release/stepwright")
    parser.add_argument("--tier", default="A", help="fitted; A alone is judged")
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--out", type=Path, help="write the fitted conditions here")
    parser.add_argument("--report", type=Path, help="write the errors here")
    options = parser.parse_args()
    fit = Fit(Runs(options.command, options.table, options.tier))
    x = fit.prior.copy()
    for _ in range(options.rounds):
        base = fit.predict(x)
        x = fit.solve(x, base, fit.jacobian(x, base), np.ones(len(fit.ids), dtype=bool))
    report = Report()
    judge(fit, x, report)
    used = f"{fit.judged.sum()} rows of tier A and {(~fit.judged).sum()} of tier B"
    text = file_text(fit.constants, x, f"fitted to {used} of {options.table.name}")
    if options.out:
        options.out.write_text(text, encoding="utf-8")
    if options.report:
        options.report.write_text("\n".join(report.lines) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

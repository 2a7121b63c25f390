"""Fits the conditions of training to published runs and says how far off the result is.

    tools/accuracy/fit_conditions.py --command build/release/stepwright data/training_runs.csv ...

Fits the numbers of stepwright/cost/training/conditions.yaml by least absolute relative error with
hierarchical priors: all places of a key (devices, frameworks) share a part, devices of a generation
and frameworks of one program another, each differs by its own. Gauss-Newton on logarithms, a
numerical Jacobian from `stepwright validate --conditions`. Then once more with each source, each
framework, each generation of devices and each kind of runs left out, and with the rows left out
whose id's hash says so. What nothing was seen of falls to the middle of its key. The errors of what
was left out are exact predictions, not linear ones; with tables that took part in no fit they
calibrate the intervals of steps (`intervals.py`).
"""

import argparse
import csv
import hashlib
import json
import re
import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import yaml

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parent))

import intervals
from files import replace_text

NOISE = 0.1  # of a measurement, relative: what a prior of one sigma weighs against
FLOOR = 0.02  # errors below this are not told apart
STEP = 0.05  # of a logarithm, for the Jacobian
REACH = 0.7  # of a logarithm, how far the linear model is trusted at first
SHRINK = 0.85  # of the reach from round to round
NEAR = 0.3  # the reach of a fit that starts from the one of all rows
LEFT_OUT = 0.25  # share of the rows
PIPELINES = "the grid's pipelines over nodes"
LEAST_MFU = 10.0  # %, of a grid of plans: below it rows tell of crashes and retries, not of plans
CONDITIONS = Path(__file__).resolve().parents[2] / "stepwright/cost/training/conditions.yaml"
UNSEEN = (
    "training_runs_3",
    "training_runs_4",
    "training_runs_5",
    "training_runs_6",
    "verification_cards",
)  # in no fit


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
    akin: float = 0.0  # sigma that devices of a generation share, and frameworks of one program
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
# How far devices differ by themselves, and those of a generation together (sigmas of logarithms):
# of some twenty settings the one with the least errors of sources left out.
WIDTHS = {
    "product_rate": 0.09,
    "narrow_product_rate": 0.15,
    "flash1_rate": 0.06,
    "memory_rate": 0.05,
}
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
    "nanotron",
]


@cache
def generation_of(device: str) -> str:
    """Of a device, as its file says; a generation is its own."""
    file = Path(__file__).parents[2] / "stepwright/cluster/devices" / f"{device}.yaml"
    if not file.exists():
        return device
    return re.search(r"^generation: (.+)$", file.read_text(encoding="utf-8"), re.M).group(1)


@cache
def program_of(framework: str) -> str:
    """Of a framework that is `like` another the other one, whose program it runs."""
    file = Path(__file__).parents[2] / "stepwright/plan/frameworks" / f"{framework}.yaml"
    like = re.search(r"^like: (.+)$", file.read_text(encoding="utf-8"), re.M) if framework else None
    return like.group(1) if like else framework


def shared(width: float) -> dict[str, float]:
    """Widths of a framework's own part and of the part that programs share, as devices have."""
    return {"own": 0.486 * width, "akin": 0.874 * width}


def constants() -> list[Constant]:
    """Every number that is fitted."""
    found = []
    for device in DEVICES:
        keys = ["product_rate"] + ["narrow_product_rate"] * (device in NARROW)
        keys += ["attention_rate", "memory_rate", "inside_rate", "network_rate"]
        keys += ["flash1_rate"] * (device == "A100")
        for key in keys:
            prior = ULTRA.get(key, 1.0) if "b300" in device else 1.0
            rate = dict(section="devices", of=device, common=0.06, low=0.3, high=2.0)
            alone = WIDTHS.get(key, 0.12)
            found.append(Constant(key=key, prior=prior, own=0.5 * alone, akin=0.9 * alone, **rate))
    for framework in FRAMEWORKS:
        of = dict(section="frameworks", of=framework, common=0.8, **shared(0.32))
        beside = dict(low=1.01, high=4, offset=1, **of)
        found += [
            Constant(key="host_us", prior=40, low=0.1, high=1000, **of),
            Constant(key="step_ms", prior=20, low=0.1, high=10000, **{**of, **shared(0.8)}),
            Constant(key="update_passes", prior=1.5, low=1, high=20, offset=0.9, **of),
            Constant(key="message_us", prior=20, low=0.1, high=1e4, **{**of, **shared(0.8)}),
            Constant(key="stage_wait", prior=0.03, low=0.001, high=10, **{**of, **shared(1.0)}),
            Constant(key="beside_inside", prior=1.2, **beside),
            Constant(key="beside_network", prior=1.15, **beside),
            Constant(key="tensor_exposed", prior=0.4, low=0.05, high=1, **of),
            Constant(key="expert_exposed", prior=0.25, low=0.05, high=1, **of),
        ]
    return found


def file_text(
    fitted: list[Constant],
    x: np.ndarray,
    source: str,
    widths: intervals.Intervals | None = None,
) -> str:
    """The YAML file with these numbers, and the intervals that were calibrated."""
    lines = ["stepwright: training/1", f'source: "{source}"']
    lines += widths.lines() if widths else []
    for section, name in (("devices", "device"), ("frameworks", "framework")):
        entries: dict[str, list[str]] = defaultdict(list)
        for constant, logarithm in zip(fitted, x, strict=True):
            if constant.section == section:
                entries[constant.of].append(f"{constant.key}: {constant.value(logarithm):.4g}")
        lines.append(f"{section}:" if entries else f"{section}: []")
        for of, numbers in entries.items():
            lines.append(f'  - {{{name}: "{of}", ' + ", ".join(numbers) + "}")
    return "\n".join(lines) + "\n"


def logarithms(fitted: list[Constant], path: Path) -> np.ndarray:
    """What a file of conditions stands for; the priors of what it does not say."""
    document = yaml.safe_load(path.read_text(encoding="utf-8"))
    entries = {
        (section, entry[name]): entry
        for section, name in (("devices", "device"), ("frameworks", "framework"))
        for entry in document[section]
    }
    found = []
    for constant in fitted:
        said = entries.get((constant.section, constant.of), {}).get(constant.key, constant.low)
        above = said - constant.offset
        found.append(np.log(above) if above > 0 and said > constant.low else constant.start)
    return np.array(found)


def judged(row: dict[str, str]) -> bool:
    """Every input known; of a printed utilisation, as much as a working run has."""
    printed = re.search(r"MFU printed ([\d.]+)%", row["flop_convention"])
    return row["tier"] == "A" and (printed is None or float(printed[1]) >= LEAST_MFU)


def kind_of(row: dict[str, str], result: dict) -> str:
    """Framework, generation, dense or experts, 16 bits or fewer or more."""
    sort = "experts" if row["moe"] else "dense"
    narrow = re.search(r"fp8|fp4|float8", row["precision"], re.I)
    wide = re.match(r"fp32", row["precision"], re.I)
    width = "8 bits and fewer" if narrow else "32 bits" if wide else "16 bits"
    return f"{result['framework']}, {generation_of(result['device'])}, {sort}, {width}"


class Runs:
    """Published runs and the command that predicts them."""

    def __init__(self, command: str, tables: list[Path]):
        self.command = command
        self.columns: list[str] = []
        self.rows = {}
        for table in tables:
            with table.open(newline="", encoding="utf-8") as file:
                rows = list(csv.DictReader(file))
            self.columns += [name for name in rows[0] if name not in self.columns]
            self.rows |= {row["id"]: row for row in rows if judged(row)}

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
        self.framework = np.array([first[i]["framework"] for i in self.ids])
        self.generation = np.array([generation_of(first[i]["device"]) for i in self.ids])
        self.kind = np.array([kind_of(runs.rows[i], first[i]) for i in self.ids])
        self.constants = constants()
        self.prior = np.array([c.start for c in self.constants])
        self.precision = np.linalg.inv(self.covariance())
        counts = {s: (self.source == s).sum() for s in set(self.source)}
        self.weight = 2 * np.array([counts[s] ** -0.3 for s in self.source])
        self.owner = {word: self.entries(word) for word in ("devices", "frameworks")}

    def covariance(self) -> np.ndarray:
        """Of the prior: places of one key share a part."""
        every = self.constants
        matrix = np.diag([c.own**2 for c in every])
        for i, a in enumerate(every):
            for j, b in enumerate(every):
                if (a.section, a.key) != (b.section, b.key):
                    continue
                matrix[i, j] += a.common * b.common
                family = generation_of if a.section == "devices" else program_of
                if family(a.of) == family(b.of):
                    matrix[i, j] += a.akin * b.akin
        return matrix

    def entries(self, section: str) -> np.ndarray:
        """The entry that each row takes its constants of a section from."""
        found = []
        for i in self.ids:
            name = self.results[i]["device" if section == "devices" else "framework"]
            if section == "frameworks":
                found.append(name if name in FRAMEWORKS else "")
            else:
                found.append(name if name in DEVICES else generation_of(name))
        return np.array(found)

    def predict(self, x: np.ndarray, ids: list[str] | None = None) -> np.ndarray:
        """Logarithms of predictions."""
        text = file_text(self.constants, x, "trial")
        results = self.runs.predict(text, self.ids if ids is None else ids)
        return np.log([results[i]["predicted"] for i in (self.ids if ids is None else ids)])

    def jacobian(self, x: np.ndarray, base: np.ndarray) -> np.ndarray:
        """Change of each prediction with each logarithm. A row has one entry of a section, so all
        places of a key move at once."""
        columns = np.zeros((len(self.ids), len(x)))
        for section, key in sorted({(c.section, c.key) for c in self.constants}):
            places = [
                k for k, c in enumerate(self.constants) if (c.section, c.key) == (section, key)
            ]
            moved = x.copy()
            steps = np.zeros(len(x))
            for k in places:
                steps[k] = STEP if section == "devices" else 4 * STEP
                if self.constants[k].value(x[k] + steps[k]) >= self.constants[k].high:
                    steps[k] = -steps[k]
                moved[k] += steps[k]
            change = self.predict(moved) - base
            for k in places:
                rows = self.owner[section] == self.constants[k].of
                columns[rows, k] = change[rows] / steps[k]
        return columns

    def solve(
        self,
        x: np.ndarray,
        base: np.ndarray,
        jacobian: np.ndarray,
        use: np.ndarray,
        reach: float = NEAR,
    ):
        """The logarithms that fit the rows in `use`, by the linear model around `x` within reach.
        What no such row depends on goes as far as the others of its key take it."""
        low = np.array([np.log(c.low - c.offset) for c in self.constants])
        high = np.array([np.log(c.high - c.offset) for c in self.constants])
        known = np.abs(jacobian[np.asarray(use, dtype=bool)]).sum(axis=0) > 0
        far = np.where(known, reach, np.inf)
        y = x.copy()
        for _ in range(25):
            error = base + jacobian @ np.where(known, y - x, 0) - self.measured
            weight = self.weight * use / np.maximum(np.abs(error), FLOOR) / NOISE
            left = jacobian.T @ (weight[:, None] * jacobian) + self.precision
            right = -jacobian.T @ (weight * error) - self.precision @ (y - self.prior)
            y = np.clip(y + 0.7 * np.linalg.solve(left, right), low, high)
            y = np.clip(y, x - far, x + far)
        return y

    def errors(self, x: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """Relative errors of some rows."""
        ids = [i for i, use in zip(self.ids, rows, strict=True) if use]
        return np.exp(self.predict(x, ids) - self.measured[rows]) - 1


def figures(errors: np.ndarray) -> list[str]:
    """Median, mean, ninth tenth and signed median, in %."""
    size = np.sort(np.abs(errors))
    ninth = size[int(np.ceil(0.9 * len(size))) - 1]
    plain = [f"{100 * one:.1f}" for one in (np.median(size), size.mean(), ninth)]
    return [*plain, f"{100 * np.median(errors):+.1f}"]


def left_out_by_hash(ids: list[str]) -> np.ndarray:
    """A part of the rows that depends on nothing but their ids."""
    share = [int(hashlib.sha256(i.encode()).hexdigest()[:8], 16) / 2**32 for i in ids]
    return np.array(share) < LEFT_OUT


def tau(predicted: np.ndarray, measured: np.ndarray) -> float:
    """Kendall's tau-a."""
    upper = np.triu_indices(len(measured), 1)
    agree = np.sign(np.subtract.outer(predicted, predicted) * np.subtract.outer(measured, measured))
    return float(agree[upper].mean())


def choices(compared: list[tuple[int, int]], predicted: np.ndarray, measured: np.ndarray) -> dict:
    """How good the plans are that predictions choose (docs/formats.md, `choices`), of rows whose
    group and plan are given."""
    members: dict[int, dict[int, list[int]]] = defaultdict(lambda: defaultdict(list))
    for i, (group, plan) in enumerate(compared):
        members[group][plan].append(i)
    regrets, taus = [], []
    for plans in members.values():
        times = np.array([measured[rows].mean() for rows in plans.values()])
        expected = np.array([predicted[rows].mean() for rows in plans.values()])
        if len(set(times)) < 3:
            continue
        regrets.append(float(times[np.argmin(expected)] / times.min() - 1))
        taus.append(tau(expected, times))
    if not regrets:
        return {"groups": 0}
    return {
        "groups": len(regrets),
        "best_chosen": sum(r == 0 for r in regrets),
        "mean_regret": statistics.mean(regrets),
        "median_regret": statistics.median(regrets),
        "worst_regret": max(regrets),
        "median_tau": statistics.median(taus),
    }


INTRODUCTION = """# Accuracy of whole runs

`stepwright validate` predicts runs of tier A (every input known): published ones
(`data/training_runs.csv`, `data/training_runs_2.csv`) and own ones (`data/own_runs_h100.csv`). In
the tables, "the grid" means nanotron's runs (source `playbook`) with a printed utilisation of at
least 10 %. Each cell of the tables of errors has the median, mean, p90 and signed median of
`predicted / measured - 1` in %; negative: predicted too fast. The columns differ in the runs to
which the constants of training (`stepwright/cost/training/conditions.yaml`) were fitted:

- Column *fitted* uses constants fitted to all runs.

- Column *a quarter of the rows* uses constants fitted to three quarters of the runs, and has errors
  of the other quarter (drawn by a hash of ids).

- Columns *source*, *framework*, *generation* and *kind* use constants fitted to all runs except
  those of the judged run's source, framework, GPU generation or kind (one framework on one
  generation, dense or with experts, in 16 bits or fewer). A framework or GPU generation without
  runs in a fit gets the middle of the constants of other frameworks or generations.

All other constants come from single operators, data sheets and articles. The formulas were chosen
with the judged runs in view; only the runs of [zero_bubble_published.md](zero_bubble_published.md)
were not used for this choice.
"""


class Report:
    """Lines that are printed as they come, and written at the end."""

    def __init__(self):
        self.lines = [INTRODUCTION]

    def add(self, text: str) -> None:
        """Prints and keeps."""
        print(text, flush=True)
        self.lines.append(text)

    def table(self, head: list[str], lines: list[list[str]]) -> None:
        """A table by its cells."""
        self.add(f"| {' | '.join(head)} |\n|{'---|' * len(head)}")
        for cells in lines:
            self.add(f"| {' | '.join(cells)} |")


def parts(fit: Fit, rows: np.ndarray) -> list[tuple[str, np.ndarray]]:
    """All, dense and sparse ones of some rows; the grid and all but it; its pipelines over nodes,
    most of which ran on a worse network (docs/accuracy/unseen_tables.md), and all but those."""
    experts = np.array([bool(fit.runs.rows[i]["moe"]) for i in fit.ids])
    grid = fit.source == "playbook"
    found = [("all", rows), ("dense", rows & ~experts), ("with experts", rows & experts)]
    if grid.any():
        over = grid & np.array([over_nodes(fit.runs.rows[i]) for i in fit.ids])
        found += [("the grid", rows & grid), ("all but the grid", rows & ~grid)]
        found += [(PIPELINES, rows & over), (f"all but {PIPELINES}", rows & ~over)]
    return found


def over_nodes(row: dict[str, str]) -> bool:
    """Whether a row has a pipeline and more devices than a node."""
    return int(row["pp"] or 1) > 1 and int(row["gpus"]) > int(row["gpus_per_node"])


def decided(fit: Fit, errors: np.ndarray, rows: np.ndarray) -> dict:
    """Choices among some rows by predictions with these errors."""
    results = [fit.results[i] for i in fit.ids]
    compared = [(result["group"], result["plan"]) for result in results]
    measured = np.exp(fit.measured)
    kept = np.flatnonzero(rows)
    return choices([compared[k] for k in kept], (measured * (1 + errors))[kept], measured[kept])


def choice_cell(found: dict) -> str:
    """A cell of the table of choices."""
    regrets = [f"{100 * found[k]:.1f}" for k in ("mean_regret", "median_regret", "worst_regret")]
    return f"{found['best_chosen']}; {', '.join(regrets)}; {found['median_tau']:.2f}"


def moves(fit: Fit, x: np.ndarray, without: dict[str, dict[str, np.ndarray]]) -> list[str]:
    """By how much constants move when the rows of their framework or generation are seen: root mean
    squares of logarithms (the widths of `learn/learnable_constants.cpp`)."""
    found: dict[tuple[str, str], list[float]] = defaultdict(list)
    for word, section in (("framework", "frameworks"), ("generation", "devices")):
        for one, y in without[word].items():
            for k, constant in enumerate(fit.constants):
                of = constant.of if word == "framework" else generation_of(constant.of)
                if constant.section == section and of == one:
                    found[word, constant.key].append(float(x[k] - y[k]))
    lines = ["| constant | left out | change | constants |", "|---|---|---|---|"]
    lines += [
        f"| `{key}` | {of} | {np.sqrt(np.mean(np.square(values))):.2f} | {len(values)} |"
        for (of, key), values in found.items()
    ]
    return lines


def groupings(fit: Fit) -> dict[str, np.ndarray]:
    """What each row belongs to, by kind of place."""
    return {
        "source": fit.source,
        "framework": fit.framework,
        "generation": fit.generation,
        "kind": fit.kind,
    }


def summary_of(fit: Fit, errors: np.ndarray, of: np.ndarray) -> dict:
    """What docs/accuracy/left_out.json says of errors of rows whose place was left out."""
    size = np.abs(errors)
    return {
        "used": len(errors),
        "median": float(np.median(size)),
        "p90": float(np.sort(size)[int(np.ceil(0.9 * len(size))) - 1]),
        "signed_median": float(np.median(errors)),
        "median_of_places": float(np.median([np.median(size[of == one]) for one in set(of)])),
        "places": len(set(of)),
        "choices": decided(fit, errors, np.ones(len(fit.ids), dtype=bool)),
    }


def report_rows(
    fit: Fit, tables: dict[str, np.ndarray], quarter: tuple[np.ndarray, np.ndarray], report: Report
) -> None:
    """Errors of parts of the rows, a column for each fit: by the quarter that was left out, and by
    tables of all rows."""
    chosen, left = quarter
    found = []
    for name, rows in parts(fit, np.ones(len(fit.ids), dtype=bool)):
        if not rows.any():
            continue
        cells = {word: ", ".join(figures(errors[rows])) for word, errors in tables.items()}
        judged = left[rows & chosen]
        of_quarter = f"{len(judged)}: {', '.join(figures(judged))}" if len(judged) else "-"
        fitted = cells.pop("fitted")
        found.append([name, str(np.sum(rows)), fitted, of_quarter, *cells.values()])
    words = [word for word in tables if word != "fitted"]
    report.table(["rows", "n", "fitted", "a quarter of the rows", *words], found)


def report_decisions(fit: Fit, tables: dict[str, np.ndarray], report: Report) -> None:
    report.add(
        "\n## Decisions\n\nThe table of decisions compares the plan predicted fastest with the "
        "measured plans of its job. Each cell has: the number\nof groups of plans whose fastest "
        "plan is chosen; how much slower the chosen plan is than the fastest (mean, median,\n"
        "worst, in %); the median Kendall tau of the predicted and the measured order of plans.\n"
    )
    every = np.ones(len(fit.ids), dtype=bool)
    found = []
    for name, rows in parts(fit, every)[:1] + parts(fit, every)[3:]:
        decisions = [decided(fit, errors, rows) for errors in tables.values()]
        if groups := decisions[0]["groups"]:
            found.append([name, str(groups), *map(choice_cell, decisions)])
    columns = dict(zip(tables, zip(*(row[2:] for row in found), strict=True), strict=True))
    alike: dict[tuple[str, ...], list[str]] = {}  # columns of which every cell is the same
    for word, cells in columns.items():
        alike.setdefault(cells, []).append(word)
    rows = [[*row[:2], *cells] for row, cells in zip(found, zip(*alike, strict=True), strict=True)]
    report.table(["rows", "groups", *map(", ".join, alike.values())], rows)


def report_places(fit: Fit, tables: dict[str, np.ndarray], report: Report) -> None:
    for word, of in groupings(fit).items():
        report.add(f"\n## By {word}\n")
        found = []
        for one in sorted(set(of)):
            cells = [", ".join(figures(tables[w][of == one])) for w in (word, "fitted")]
            found.append([one or "others", str(np.sum(of == one)), *cells])
        if len(found) > 9:
            where = "; `left_out.json` has all" if word == "kind" else ""
            report.add(
                f"Of {len(found)} {word}s the table has the six with the largest errors{where}.\n"
            )
            found = sorted(found, key=lambda row: -float(row[2].split(",")[0]))[:6]
        report.table([word, "n", "left out", "fitted"], found)


def left_out_runs(fit: Fit, tables: dict[str, np.ndarray], results: dict) -> list[intervals.Run]:
    """The rows as fits without their source, framework, generation or kind predict them. What
    nothing else shows is then unknown."""
    runs = []
    known_devices = {generation_of(device) for device in DEVICES}
    for word, of in groupings(fit).items():
        for one in set(of):
            others = of != one
            frameworks = set(fit.framework[others]) & set(FRAMEWORKS)
            generations = set(fit.generation[others]) & known_devices
            for k in np.flatnonzero(~others):
                unknown = fit.framework[k] not in frameworks, fit.generation[k] not in generations
                runs.append(
                    intervals.Run(
                        source=str(fit.source[k]),
                        kind=(word, str(fit.kind[k])),
                        ratio=-float(np.log1p(tables[word][k])),
                        unknown=sum(unknown),
                        experts=bool(fit.runs.rows[fit.ids[k]]["moe"]),
                        waits=results[fit.ids[k]]["waiting_share"],
                    )
                )
    return runs


def unseen_runs(command: str) -> list[intervals.Run]:
    """Rows of tables that took part in no fit, by the conditions that the command has."""
    runs = []
    for name in UNSEEN:
        table = CONDITIONS.parents[3] / f"data/{name}.csv"
        with table.open(newline="", encoding="utf-8") as file:
            rows = {row["id"]: row for row in csv.DictReader(file)}
        done = subprocess.run(
            [command, "validate", table, "--json"], capture_output=True, text=True, check=True
        )
        for result in json.loads(done.stdout)["results"]:
            row = rows[result["id"]]
            runs.append(
                intervals.Run(
                    source=result["source"],
                    kind=(result["source"], kind_of(row, result)),
                    ratio=float(np.log(result["measured"] / result["predicted"])),
                    unknown=result["unknown_parts"],
                    experts=bool(row["moe"]),
                    waits=result["waiting_share"],
                )
            )
    return runs


def calibrate(
    fit: Fit, x: np.ndarray, tables: dict[str, np.ndarray], report: Report
) -> intervals.Intervals:
    """The intervals of steps, by rows left out and by tables that no fit saw."""
    results = fit.runs.predict(file_text(fit.constants, x, "trial"), fit.ids)
    found = intervals.calibrated(left_out_runs(fit, tables, results), unseen_runs(fit.runs.command))
    report.add(
        "\n## Intervals of 80 %\n\nThe interval of a predicted step is wider the farther a job is "
        "from measured runs\n([models.md](../models.md#intervals-of-a-step)). The factors by which "
        "intervals of step times widen come\nfrom errors of left-out runs; the ends of the "
        "narrowest interval come from runs of sources that took\npart in no fit. For each source "
        "in the table of intervals, the ends were fitted to the other sources.\n"
    )
    report.add("\n".join(found.table()))
    return found


def judge(
    fit: Fit, x: np.ndarray, report: Report, fits: Path | None = None
) -> tuple[dict, dict[str, np.ndarray]]:
    """Errors of the fit, of a quarter left out, and of each source, framework, generation and
    kind: in short, and row by row."""
    base = fit.predict(x)
    jacobian = fit.jacobian(x, base)
    tables = {"fitted": np.exp(base - fit.measured) - 1}
    quarter = left_out_by_hash(fit.ids)
    left = np.zeros(len(fit.ids))
    left[quarter] = fit.errors(fit.solve(x, base, jacobian, ~quarter), quarter)
    without: dict[str, dict[str, np.ndarray]] = {}
    summary: dict = {}
    for word, of in groupings(fit).items():
        without[word] = {one: fit.solve(x, base, jacobian, of != one) for one in sorted(set(of))}
        tables[word] = np.zeros(len(fit.ids))
        for one, moved in without[word].items():
            tables[word][of == one] = fit.errors(moved, of == one)
        summary[word] = summary_of(fit, tables[word], of)
    summary["kind"]["each"] = {
        str(one): {
            "rows": int(np.sum(fit.kind == one)),
            "left_out_percent": [float(cell) for cell in figures(tables["kind"][fit.kind == one])],
            "fitted_percent": [float(cell) for cell in figures(tables["fitted"][fit.kind == one])],
        }
        for one in sorted(set(fit.kind))
    }
    for one, moved in without["source"].items() if fits else ():
        text = file_text(fit.constants, moved, f"without {one}")
        replace_text(fits / f"without_{one}.yaml", text)
    report_rows(fit, tables, (quarter, left), report)
    report_decisions(fit, tables, report)
    report_places(fit, tables, report)
    report.add(
        "\n## Constants that runs may move\n\nThe table shows how much constants that were fitted "
        "to training runs change when the runs of\ntheir framework or GPU generation join the fit "
        "(root mean square change of their logarithms).\n"
    )
    report.add("\n".join(moves(fit, x, without)))
    return summary, tables


def main() -> int:
    """Fits, judges, writes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tables", type=Path, nargs="+")
    parser.add_argument("--command", default="build/release/stepwright")
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument(
        "--start", type=Path, help="begin at these conditions, near which one round is enough"
    )
    parser.add_argument("--out", type=Path, help="write the fitted conditions here")
    parser.add_argument("--report", type=Path, help="write the errors here")
    parser.add_argument("--json", type=Path, help="write the errors of what was left out here")
    parser.add_argument(
        "--fits", type=Path, help="write the conditions without each source into this folder"
    )
    options = parser.parse_args()
    fit = Fit(Runs(options.command, options.tables))
    x = logarithms(fit.constants, options.start) if options.start else fit.prior.copy()
    first = NEAR if options.start else REACH
    every = np.ones(len(fit.ids), dtype=bool)
    for i in range(options.rounds):
        base = fit.predict(x)
        x = fit.solve(x, base, fit.jacobian(x, base), every, first * SHRINK**i)
    names = ", ".join(table.name for table in options.tables)
    report = Report()
    summary, tables = judge(fit, x, report, options.fits)
    widths = calibrate(fit, x, tables, report)
    if options.out:
        source = f"fitted to {len(fit.ids)} rows of {names}"
        text = file_text(fit.constants, x, source, widths)
        replace_text(options.out, text)
    if options.report:
        replace_text(options.report, "\n".join(report.lines) + "\n")
    if options.json:
        replace_text(options.json, json.dumps(summary, indent=2) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())

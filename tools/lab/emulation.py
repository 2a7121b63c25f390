"""Plans of one job in an emulated cluster, predicted and measured (docs/emulation.md).

sudo python3 -B tools/lab/emulation.py build/release/stepwright [-o docs/emulation/plans.md]
     [--only REGEX] [--steps N] [--scale S] [--measured FILE] [--real [--pace P]]

Samples the messages of the lab, fits a profile, predicts every plan with it, plays every plan with
held computations, and writes a table, the errors and the order. Needs root and a quiet machine.
With --real, a small model is trained by four processes of this machine instead, without root.
"""

import argparse
import contextlib
import json
import re
import statistics
import subprocess
import sys
import tempfile
import textwrap
import time
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from files import replace_text

FOLDER = Path(__file__).resolve().parents[2] / "examples" / "emulation"
LAB = FOLDER / "lab.yaml"
CONDITIONS = FOLDER / "conditions.yaml"
# Pairs of strategies predicted closer than this are not ordered.
APART = 0.03
# Plans of a lab that the page shows, those predicted worst; the table of rows has all.
WORST = 6

JOB = """  model: {{layers: 8, hidden: 2048, heads: 16, ffn: 5632, vocab: 32000}}
  cluster: {{profile: {cluster}, nodes: 4}}
  batch: {{sequences: 32, length: 2048}}
  conditions: {conditions}
  measured: {measured}
"""

STRATEGIES = [
    "NNN", "NNI", "NNG", "NII", "NIG", "NGG", "INI",
    "ING", "III", "IIG", "IGG", "GNG", "GIG", "GGG",
]  # fmt: skip


def strategy(states: str) -> str:
    """The plan's line for a strategy; groups are the ranks of a node."""
    group = ", group: node" if "I" in states else ""
    return f"sharding: {{states: {states}{group}}}\n"


def plans() -> dict[str, str]:
    """Name and choices of every plan."""
    found = {
        f"data 16, {states}": "parallel: {data: 16}\nmicro_batch: 2\n" + strategy(states)
        for states in STRATEGIES
    }
    sequence = "sequence_parallel: true\n"

    def add(name: str, parallel: str, micro: int, states: str, more: str = "") -> None:
        text = f"parallel: {{{parallel}}}\nmicro_batch: {micro}\n{strategy(states)}{more}"
        found[f"{name}, {states}"] = text

    for states in ("NNG", "GGG"):
        add("tensor 4 data 4", "tensor: 4, data: 4", 4, states, sequence)
    for states in ("NNN", "NNG", "NGG"):
        add("tensor 2 data 8", "tensor: 2, data: 8", 4, states, sequence)
    add("tensor 4 data 4 plain", "tensor: 4, data: 4", 4, "NNG")
    for states in ("NNN", "NNG"):
        add("pipeline 4 data 4", "pipeline: 4, data: 4", 1, states)
    add("pipeline 2 data 8", "pipeline: 2, data: 8", 1, "NNG")
    add("pipeline 2 data 8 gpipe", "pipeline: 2, data: 8", 1, "NNN", "schedule: gpipe\n")
    add(
        "pipeline 2 interleaved data 8", "pipeline: 2, data: 8", 1, "NNG",
        "schedule: {kind: interleaved, chunks: 2}\n",
    )  # fmt: skip
    add("tensor 2 pipeline 2 data 4", "tensor: 2, pipeline: 2, data: 4", 2, "NNG", sequence)
    add("tensor 4 pipeline 4", "tensor: 4, pipeline: 4", 2, "NNN", sequence)
    add("tensor 4 pipeline 2 data 2", "tensor: 4, pipeline: 2, data: 2", 2, "NNG", sequence)
    add("context 2 data 8", "context: 2, data: 8", 4, "NNG")
    add("context 4 data 4", "context: 4, data: 4", 4, "NGG", "context_kind: all-gather\n")
    for states in ("NNN", "NNG", "NGG", "IGG", "GNG", "GGG"):
        name = f"data 16 ho-ring, {states}"
        found[name] = found[f"data 16, {states}"] + "collectives: {data: ho-ring}\n"
    return found


# What a rank may hold when the tuner chooses among strategies and algorithms: room for all, and
# for less than parameters and gradients that every rank keeps.
LIMITS = (80e9, 7.9e9)
SEARCH = """search:
  {{tensor: 1, pipeline: 1, context: 1, micro_batch: 2, recompute: none, sequence_parallel: false,
    sharding: [{strategies}], sharding_group: [1, 4],
    collectives: [{{data: ring}}, {{data: ho-ring}}]}}
objective: {{kind: step_time, memory_limit: {limit}}}
"""
# ZeRO-1 and ZeRO-3 as libraries run them.
BASELINES = {"NNG": "data 16, NNG", "GGG": "data 16, GGG"}

RULE_OF_THUMB = "tensor 4 data 4, NNG"  # tensor parallelism fills the node, the rest is ZeRO-1


def run(call: list[str]) -> str:
    """Standard output of a command; ends the tool when it fails."""
    done = subprocess.run(call, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(call)}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}")
    return done.stdout


def median_step(metrics: Path) -> float:
    """Seconds of a step of a run, the first one left out."""
    lines = metrics.read_text(encoding="utf-8").splitlines()
    times = [json.loads(line)["time_s"] for line in lines]
    return statistics.median(times[1:] or times)


def cpu_idle() -> tuple[float, float]:
    """Idle and all seconds of the processors since boot."""
    with open("/proc/stat", encoding="ascii") as file:
        numbers = [float(word) for word in file.readline().split()[1:]]
    return numbers[3] + numbers[4], sum(numbers[:8])


class Plans:
    """Plans of one job as files, and what is predicted of them. `JOB` has `{measured}`."""

    JOB = ""

    def __init__(self, command: str, folder: Path, options: argparse.Namespace) -> None:
        self.command = command
        self.folder = folder
        self.steps = options.steps
        self.measured = Path(options.measured) if options.measured else folder / "measured.json"

    def words(self) -> dict[str, object]:
        """What stands in `JOB`."""
        return {"conditions": CONDITIONS, "measured": self.measured}

    def write(self, name: str, choices: str, **words: str) -> Path:
        """A plan as a file; `words` of its job, beside those of all."""
        path = self.folder / (re.sub(r"\W+", "-", name) + ".yaml")
        job = self.JOB.format(**self.words(), **words)
        path.write_text(f"stepwright: plan/1\njob:\n{job}{choices}", encoding="utf-8")
        return path

    def predicted(self, plan: Path) -> float:
        """Seconds of a step, as predicted."""
        return json.loads(run([self.command, "predict", str(plan), "--json"]))["step_time_s"]


class Real(Plans):
    """Four processes that compute, their profile and what they ran."""

    KINDS = ("operators", "collectives")
    JOB = """  model: {{layers: 4, hidden: 512, heads: 8, ffn: 1408, vocab: 4096}}
  cluster: {{name: here, device: {{name: cpu, memory: 16e9, memory_bandwidth: 40e9, peak:
    {{fp32: 1e12, bf16: 1e12}}}}, devices_per_node: 4, devices: 4,
    levels: [{{name: loopback, size: 4, bandwidth: 1e9}}]}}
  batch: {{sequences: 16, length: 128}}
  precision: fp32
  conditions: {conditions}
  measured: {measured}
"""

    def __init__(self, command: str, folder: Path, options: argparse.Namespace) -> None:
        super().__init__(command, folder, options)
        self.steps = max(self.steps, 6)
        self.pace = str(options.pace)
        self.data = folder / "tokens.txt"
        self.data.write_bytes(bytes(97 + (i * i + i // 7) % 26 for i in range(200_000)))
        if not options.measured:
            self.sample()

    def sample(self) -> None:
        """Makes the machine's profile."""
        tables = [str(self.folder / f"{kind}.csv") for kind in self.KINDS]
        for kind, table in zip(self.KINDS, tables, strict=True):
            begin = time.monotonic()
            pace = ["--pace", self.pace] if kind == "operators" else []
            run([self.command, "sample", kind, "--ranks", "4", "-o", table, *pace])
            print(f"sampled {kind} in {time.monotonic() - begin:.0f} s", file=sys.stderr)
        fitted = run([self.command, "fit", *tables, "-o", str(self.measured)])
        print(fitted, file=sys.stderr)

    def plans(self) -> dict[str, str]:
        """Name and choices of every plan."""
        sequence = "sequence_parallel: true\n"
        found = {
            f"data 4, {states}": f"parallel: {{data: 4}}\nmicro_batch: 2\n{strategy(states)}"
            for states in ("NNN", "NNG", "NGG", "GGG")
        }
        found["data 4 group 2, IIG"] = (
            "parallel: {data: 4}\nmicro_batch: 2\nsharding: {states: IIG, group: 2}\n"
        )
        found["tensor 2 data 2"] = f"parallel: {{tensor: 2, data: 2}}\nmicro_batch: 2\n{sequence}"
        found["tensor 4"] = f"parallel: {{tensor: 4}}\nmicro_batch: 4\n{sequence}"
        found["pipeline 2 data 2"] = "parallel: {pipeline: 2, data: 2}\nmicro_batch: 2\n"
        found["pipeline 4"] = "parallel: {pipeline: 4}\nmicro_batch: 2\n"
        found["context 2 data 2"] = "parallel: {context: 2, data: 2}\nmicro_batch: 2\n"
        return found

    def played(self, plan: Path) -> float:
        """Seconds of a step: the median but for the first."""
        metrics = plan.with_suffix(".jsonl")
        words = ["train", str(plan), "--data", str(self.data), "--steps", str(self.steps)]
        words += ["--pace", self.pace]
        run([self.command, *words, "--metrics", str(metrics)])
        return median_step(metrics)


class Emulation(Plans):
    """One lab, its profile and what ran in it. `JOB` has `{cluster}` too."""

    LAB = LAB
    JOB = JOB

    def __init__(self, command: str, folder: Path, options: argparse.Namespace) -> None:
        super().__init__(command, folder, options)
        self.scale = options.scale
        self.cluster = folder / "cluster.json"
        run([command, "lab", "profile", str(self.LAB), "-o", str(self.cluster)])
        if not options.measured:
            self.sample()

    def plans(self) -> dict[str, str]:
        """Name and choices of every plan."""
        return plans()

    def in_lab(self, words: list[str]) -> str:
        """Runs `stepwright WORDS` as every rank of the lab."""
        call = [self.command, "lab", "run", "--timeout", "600", str(self.LAB), "--", self.command]
        return run([*call, *words])

    def sample(self) -> None:
        """Makes the lab's profile."""
        table = self.folder / "messages.csv"
        begin = time.monotonic()
        self.in_lab(["sample", "collectives", "--scale", str(self.scale), "-o", str(table)])
        print(f"sampled in {time.monotonic() - begin:.0f} s", file=sys.stderr)
        print(run([self.command, "fit", str(table), "-o", str(self.measured)]), file=sys.stderr)

    def words(self) -> dict[str, object]:
        """What stands in `JOB`."""
        return {"cluster": self.cluster, **super().words()}

    def played(self, plan: Path) -> float:
        """Seconds of a step, as measured times the scale: the median but for the first."""
        metrics = plan.with_suffix(".jsonl")
        words = ["train", str(plan), "--hold", "--scale", str(self.scale), "--steps"]
        self.in_lab([*words, str(self.steps), "--metrics", str(metrics)])
        return self.scale * median_step(metrics)

    def chosen(self, limit: float) -> tuple[str, float, float]:
        """The tuner's strategy and algorithm under a limit of memory, predicted and measured."""
        job = self.JOB.format(**self.words())
        search = SEARCH.format(strategies=", ".join(STRATEGIES), limit=limit)
        path = self.folder / f"chosen-{limit:g}.yaml"
        path.write_text(f"stepwright: job/1\n{textwrap.dedent(job)}{search}", encoding="utf-8")
        plan = self.folder / f"chosen-{limit:g}-plan.yaml"
        run([self.command, "tune", str(path), "-o", str(plan)])
        text = plan.read_text(encoding="utf-8")
        states = re.search(r"states: (\w+)", text)[1]
        algorithm = "ho-ring" if "ho-ring" in text.split("collectives:")[-1] else "ring"
        return f"{states} {algorithm}", self.predicted(plan), self.played(plan)


def sharding_report(
    rows: dict[str, tuple[float, float]], chosen: dict[float, tuple[str, float, float]]
) -> str:
    """What the tuner's strategies gain on those of libraries with flat rings."""
    lines = ["", "| memory | tuner's choice | predicted s | measured s | "]
    lines[1] += " | ".join(f"{name} flat / it" for name in BASELINES) + " |"
    lines.append("|---" * (4 + len(BASELINES)) + "|")
    for limit, (name, predicted, measured) in chosen.items():
        ratios = [f"{rows[row][1] / measured:.2f}" for row in BASELINES.values()]
        cells = [f"{limit / 1e9:g} GB", name, f"{predicted:.4g}", f"{measured:.4g}", *ratios]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def kendall(rows: dict[str, tuple[float, float]]) -> tuple[float, int]:
    """Agreement of the orders over pairs that are predicted apart, and how many there are."""
    agreed = pairs = 0
    for (one, measured_one), (two, measured_two) in combinations(rows.values(), 2):
        if abs(one - two) <= APART * min(one, two):
            continue
        pairs += 1
        agreed += 1 if (one < two) == (measured_one < measured_two) else -1
    return (agreed / pairs if pairs else 1.0), pairs


def report(rows: dict[str, tuple[float, float]], idle: float, scale: float) -> str:
    """The tables in Markdown; no scale: computed."""
    waits = f"plans whose ranks wait instead of computing (`--hold --scale {scale:g}`)"
    kind = waits if scale else "plans with real computation"
    errors = {name: predicted / measured - 1 for name, (predicted, measured) in rows.items()}
    size = sorted(abs(error) for error in errors.values())
    lines = ["| plan | predicted s | measured s | error % |", "|---|---|---|---|"]
    worst = set(sorted(rows, key=lambda name: -abs(errors[name]))[:WORST]) if scale else set(rows)
    for name, (predicted, measured) in rows.items():
        if name in worst:
            cells = [name, f"{predicted:.4g}", f"{measured:.4g}", f"{100 * errors[name]:+.1f}"]
            lines.append("| " + " | ".join(cells) + " |")
    if len(worst) < len(rows):
        said = (
            "The table has the six plans whose step times in an emulated cluster are predicted "
            f"worst; `data/lab_plans.csv` has all {len(rows)}."
        )
        lines += ["", said]
    paro = {name: row for name, row in rows.items() if name.startswith("data 16, ")}
    tau, pairs = kendall(paro)
    of_strategies = f",\nand of {tau:.2f} over {pairs} pairs with data degree 16" if pairs else ""
    all_tau, all_pairs = kendall(rows)
    chosen = min(rows, key=lambda name: rows[name][0])
    best = min(rows, key=lambda name: rows[name][1])
    lines += [
        "",
        f"The step times of {len(rows)} {kind} are predicted {100 * statistics.median(size):.1f} "
        f"% off in the median, {100 * size[-1]:.1f} % at worst.\nWhile the "
        f"emulated ranks ran, the machine's processors were idle {100 * idle:.0f} % of the time.",
        "",
        f"Predicted and measured order of plans agree with a Kendall tau of {all_tau:.2f} over "
        f"{all_pairs} pairs of plans predicted more than {100 * APART:.0f} % apart"
        f"{of_strategies}.",
        "",
        f"The plan predicted fastest ({chosen}) took {rows[chosen][1]:.4g} s, the fastest measured "
        f"plan ({best}) {rows[best][1]:.4g} s "
        f"({100 * (rows[chosen][1] / rows[best][1] - 1):.1f} % less).",
    ]
    if RULE_OF_THUMB in rows:
        ratio = rows[RULE_OF_THUMB][1] / rows[chosen][1]
        lines.append(
            f"The plan that an expert would try first ({RULE_OF_THUMB}) took {ratio:.2f} times as "
            "long as the plan predicted fastest."
        )
    return "\n".join(lines) + "\n"


def lab_options(description: str, scale: float) -> argparse.ArgumentParser:
    """The options of a tool that plays plans in a lab."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("command")
    parser.add_argument("-o", "--output")
    parser.add_argument("--only", default="")
    parser.add_argument("--steps", type=int, default=3)
    parser.add_argument("--scale", type=float, default=scale)
    parser.add_argument("--measured")
    parser.add_argument("--keep")
    return parser


@contextlib.contextmanager
def workplace(options: argparse.Namespace) -> Iterator[tuple[str, Path]]:
    """The command, and a folder for files: the one to keep, or one that goes."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(options.keep or made)
        folder.mkdir(exist_ok=True)
        yield str(Path(options.command).resolve()), folder


def main() -> None:
    """Samples, fits, predicts, plays and reports."""
    parser = lab_options(__doc__, scale=100)
    parser.add_argument("--real", action="store_true")
    parser.add_argument("--rows")
    # Four ranks that compute all the time take a third of two processors; messages need some, too.
    parser.add_argument("--pace", type=float, default=6)
    options = parser.parse_args()
    with workplace(options) as (command, folder):
        emulation = (Real if options.real else Emulation)(command, folder, options)
        rows = {}
        idle, spent = cpu_idle()
        for name, choices in emulation.plans().items():
            if not re.search(options.only, name):
                continue
            plan = emulation.write(name, choices)
            begin = time.monotonic()
            rows[name] = (emulation.predicted(plan), emulation.played(plan))
            predicted, measured = rows[name]
            print(
                f"{name}: predicted {predicted:.4g} s, measured {measured:.4g} s "
                f"({100 * (predicted / measured - 1):+.1f} %), {time.monotonic() - begin:.0f} s",
                file=sys.stderr,
            )
        later_idle, later_spent = cpu_idle()
        text = report(
            rows, (later_idle - idle) / (later_spent - spent), 0 if options.real else options.scale
        )
        if not options.real and not options.only:
            text += sharding_report(rows, {limit: emulation.chosen(limit) for limit in LIMITS})
    if options.output:
        replace_text(options.output, text)
    if options.rows:
        lines = [f'"{name}",{row[0]:.4g},{row[1]:.4g}' for name, row in rows.items()]
        replace_text(options.rows, "\n".join(["plan,predicted_s,measured_s", *lines]) + "\n")
    print(text)


if __name__ == "__main__":
    main()

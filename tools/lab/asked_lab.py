"""Ten odd plans in each of two emulated clusters, predicted from samples (docs/emulation.md).

sudo python3 -B tools/lab/asked_lab.py build/release/stepwright [-o docs/emulation/asked.md]
     [--rows data/lab_asked.csv] [--only REGEX] [--steps N] [--scale S] [--lab NAME]

In each cluster the messages are sampled as for any plan, and then those that the ten plans send
(`stepwright sample collectives --plan`). Every plan is predicted from the first table and from
both before the first one is played. Needs root and a quiet machine.
"""

import argparse
import re
import statistics
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from emulation import FOLDER, Emulation, lab_options, run, workplace
from files import replace_text

SEQUENCE = "sequence_parallel: true\n"


def plan(parallel: str, micro_batch: int, states: str, more: str = "") -> str:
    """The choices of a plan."""
    return f"parallel: {{{parallel}}}\nmicro_batch: {micro_batch}\nsharding: {states}\n{more}"


INTERLEAVED = "schedule: {{kind: interleaved, chunks: {}}}\n"
# Name of the cluster's file: its nodes, the sequences of a batch, and the plans.
LABS = {
    "rails": (
        4,
        32,
        {
            "data 16, NIG by HO-Ring in groups of 4": plan(
                "data: 16", 1, "{states: NIG, group: 4}", "collectives: {data: ho-ring}\n"
            ),
            "tensor 4 pipeline 2 data 2": plan(
                "tensor: 4, pipeline: 2, data: 2", 2, "NNG", SEQUENCE
            ),
            "pipeline 4 interleaved data 4, NGG": plan(
                "pipeline: 4, data: 4", 1, "NGG", INTERLEAVED.format(3)
            ),
            "data 16, GGG two-level": plan(
                "data: 16", 1, "GGG", "collectives: {data: two-level}\n"
            ),
            "tensor 2 context 2 data 4": plan("tensor: 2, context: 2, data: 4", 2, "NNG", SEQUENCE),
            "data 16, IIG in groups of 2": plan("data: 16", 2, "{states: IIG, group: 2}"),
            "pipeline 2 ZB-H1 data 8": plan("pipeline: 2, data: 8", 1, "NNN", "schedule: zb-h1\n"),
            "tensor 8 data 2, NGG": plan("tensor: 8, data: 2", 8, "NGG", SEQUENCE),
            "tensor 2 pipeline 4 interleaved data 2": plan(
                "tensor: 2, pipeline: 4, data: 2", 2, "NNG", INTERLEAVED.format(3)
            ),
            "context 4 ring data 4": plan("context: 4, data: 4", 2, "NNN", "context_kind: ring\n"),
        },
    ),
    "three-nodes": (
        3,
        48,
        {
            "data 12, NIG by HO-Ring in groups of 4": plan(
                "data: 12", 1, "{states: NIG, group: 4}", "collectives: {data: ho-ring}\n"
            ),
            "tensor 4 pipeline 3": plan("tensor: 4, pipeline: 3", 4, "NNN", SEQUENCE),
            "pipeline 3 interleaved data 4, NGG": plan(
                "pipeline: 3, data: 4", 1, "NGG", INTERLEAVED.format(2)
            ),
            "data 12, GGG two-level": plan(
                "data: 12", 2, "GGG", "collectives: {data: two-level}\n"
            ),
            "tensor 2 data 6": plan("tensor: 2, data: 6", 2, "NNG", SEQUENCE),
            "data 12, III in groups of 2": plan("data: 12", 1, "{states: III, group: 2}"),
            "pipeline 6 data 2": plan("pipeline: 6, data: 2", 1, "NNN"),
            "tensor 2 pipeline 3 data 2": plan(
                "tensor: 2, pipeline: 3, data: 2", 2, "NGG", SEQUENCE
            ),
            "context 2 gathered data 6": plan(
                "context: 2, data: 6", 2, "NNG", "context_kind: all-gather\n"
            ),
            "data 12, GNG": plan("data: 12", 2, "GNG"),
        },
    ),
}
JOB = """  model: {{layers: 12, hidden: 2048, heads: 16, ffn: 5632, vocab: 32000}}
  cluster: {{profile: {cluster}, nodes: NODES}}
  batch: {{sequences: SEQUENCES, length: 2048}}
  conditions: {conditions}
  measured: {measured}
"""
HEAD = """The table has errors (`predicted / measured - 1`) of the step times of ten plans in each
of two emulated clusters, for a model of 12 layers of width 2,048
(`data/lab_asked.csv`). Predictions of columns *any* use measured times of messages of
many sizes. Predictions of columns *asked* also use measured times of the messages that
the ten plans send (`stepwright sample collectives --plan`).

| cluster | any: median | worst | asked: median | worst |
|---|---|---|---|---|
"""


class Asked(Emulation):
    """One of the clusters, its plans and both fits."""

    def __init__(self, name: str, command: str, folder: Path, options: argparse.Namespace) -> None:
        nodes, sequences, plans = LABS[name]
        self.LAB = FOLDER / f"{name}.yaml"
        self.JOB = JOB.replace("NODES", str(nodes)).replace("SEQUENCES", str(sequences))
        super().__init__(command, folder, options)
        self.files = {
            name: self.write(name, choices)
            for name, choices in plans.items()
            if re.search(options.only, name)
        }

    def ask(self) -> None:
        """Adds what the plans send to the profile."""
        table = self.folder / "asked.csv"
        begin = time.monotonic()
        words = ["sample", "collectives", "--scale", str(self.scale), "-o", str(table)]
        self.in_lab(
            words + [word for file in self.files.values() for word in ("--plan", str(file))]
        )
        rows = len(table.read_text(encoding="utf-8").splitlines()) - 1
        print(f"asked for {rows} in {time.monotonic() - begin:.0f} s", file=sys.stderr)
        both = [str(self.folder / "messages.csv"), str(table)]
        run([self.command, "fit", *both, "-o", str(self.measured)])

    def rows(self) -> dict[str, tuple[float, float, float]]:
        """Predicted by either fit, and measured, of every plan."""
        general = {name: self.predicted(file) for name, file in self.files.items()}
        self.ask()
        asked = {name: self.predicted(file) for name, file in self.files.items()}
        found = {}
        for name, file in self.files.items():
            measured = self.played(file)
            found[name] = (general[name], asked[name], measured)
            errors = [f"{100 * (seconds / measured - 1):+.1f} %" for seconds in found[name][:2]]
            print(f"{name}: {measured:.4g} s, {', '.join(errors)}", file=sys.stderr)
        return found


def line(name: str, rows: dict[str, tuple[float, float, float]]) -> str:
    """The line of a cluster in Markdown: by either fit the median error, and the worst plan."""
    cells = [name]
    for which in range(2):
        errors = {plan: row[which] / row[2] - 1 for plan, row in rows.items()}
        worst = max(errors, key=lambda plan: abs(errors[plan]))
        cells.append(f"{100 * statistics.median(map(abs, errors.values())):.1f} %")
        cells.append(f"{100 * errors[worst]:+.1f} % ({worst})")
    return "| " + " | ".join(cells) + " |\n"


def main() -> None:
    """Samples, fits, predicts, plays and reports."""
    parser = lab_options(__doc__, scale=100)
    parser.add_argument("--lab", choices=LABS)
    parser.add_argument("--rows")
    options = parser.parse_args()
    text = HEAD
    lines = ["lab,plan,any_s,asked_s,measured_s"]
    for name in [options.lab] if options.lab else LABS:
        with workplace(options) as (command, folder):
            rows = Asked(name, command, folder, options).rows()
        text += line(name, rows)
        lines += [
            f'{name},"{plan_name}",{",".join(f"{one:.4g}" for one in row)}'
            for plan_name, row in rows.items()
        ]
    if options.output:
        replace_text(options.output, text)
    if options.rows:
        replace_text(options.rows, "\n".join(lines) + "\n")
    print(text)


if __name__ == "__main__":
    main()

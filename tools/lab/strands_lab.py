"""Two strands in an emulated cluster, predicted before they are played (docs/strands.md).

sudo python3 -B tools/lab/strands_lab.py build/release/stepwright [-o docs/accuracy/strands_lab.md]
     [--rows data/lab_strands.csv] [--only REGEX] [--steps N] [--scale S] [--measured FILE]
     [--predict-only]

Every plan three times, with the same order of turns: every overlap off, one strand, two strands.
All predictions are written down before the first plan is played with held computations. What is
hidden is one less the messages that show with two strands over those that show with every overlap
off; what shows is the step less the predicted step on links a thousand times as fast. Needs root
and a quiet machine; --predict-only goes by the lab's nominal rates and needs neither.
"""

import argparse
import json
import re
import statistics
import sys
import time
from pathlib import Path

import yaml

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from emulation import FOLDER, Emulation, lab_options, workplace
from files import replace_text

LAB = FOLDER / "strands.yaml"
DENSE = "{layers: 4, hidden: 2048, heads: 16, ffn: 5632, vocab: 4000}"
EXPERTS = (
    "{layers: 4, hidden: 1024, heads: 16, vocab: 4000, experts: {count: 8, top_k: 4, ffn: 576}}"
)
OFF = (
    "overlap: {gradients: false, parameters: false, tensor: false, tensor_gradients: false,"
    " context: false, expert: false, pipeline: false}\n"
)
FASTER = 1000
# Sequences of all data ranks that are one micro-batch.
TOGETHER = 16

SEQUENCE = "sequence_parallel: true\n"
PAIRED, PAIRED_2, FOLDED, DUALPIPEV = (
    f"{kind}, chunks: {chunks}"
    for kind, chunks in (("paired", 1), ("paired", 2), ("folded", 2), ("dualpipev", 2))
)
GATHERED = "context_kind: all-gather\n"
EXPERT_4 = "data: 4, expert: 4, pipeline: 2"
MIXED = "tensor: 2, context: 2, pipeline: 2"

# Name, model, degrees, schedule, more choices.
PLANS = [
    ("tensor 4 context 2", DENSE, "tensor: 4, context: 2", PAIRED, SEQUENCE),
    ("tensor 4 data 2", DENSE, "tensor: 4, data: 2", PAIRED, SEQUENCE),
    ("tensor 4 folded", DENSE, "tensor: 4, pipeline: 2", FOLDED, SEQUENCE),
    ("tensor 4 paired", DENSE, "tensor: 4, pipeline: 2", PAIRED_2, SEQUENCE),
    ("context 8 ring", DENSE, "context: 8", PAIRED, "context_kind: ring\n"),
    ("context 8 gathered", DENSE, "context: 8", PAIRED, GATHERED),
    ("context 4 folded", DENSE, "context: 4, pipeline: 2", FOLDED, GATHERED),
    ("expert 8", EXPERTS, "data: 8, expert: 8", PAIRED, ""),
    ("expert 4 folded", EXPERTS, EXPERT_4, FOLDED, ""),
    ("expert 4 dualpipev", EXPERTS, EXPERT_4, DUALPIPEV, ""),
    ("expert 4 paired", EXPERTS, EXPERT_4, PAIRED_2, ""),
    ("tensor 2 context 2 folded", DENSE, MIXED, FOLDED, SEQUENCE),
]  # fmt: skip
VARIANTS = ("no overlap", "one strand", "two strands")


class Strands(Emulation):
    """Plans in the lab of two strands."""

    LAB = LAB
    JOB = """  model: {model}
  cluster: {{profile: {cluster}, nodes: 4}}
  batch: {{sequences: 512, length: 512}}
  conditions: {conditions}
{measured}"""

    def __init__(self, command: str, folder: Path, options: argparse.Namespace) -> None:
        self.nominal = options.predict_only and not options.measured
        super().__init__(command, folder, options)

    def words(self) -> dict[str, object]:
        """What stands in `JOB`; without a profile the lab's nominal rates."""
        line = "" if self.nominal else f"  measured: {self.measured}\n"
        return {**super().words(), "measured": line}

    def sample(self) -> None:
        """Makes the lab's profile where it is needed."""
        if not self.nominal:
            super().sample()

    def plan(self, row: tuple, variant: str) -> Path:
        """The file of a row."""
        name, model, degrees, schedule, more = row
        data = int((re.search(r"data: (\d+)", degrees) or [0, 1])[1])
        strands = 2 if variant == "two strands" else 1
        choices = (
            f"parallel: {{{degrees}}}\nmicro_batch: {max(1, TOGETHER // data)}\nsharding: NNN\n"
            f"schedule: {{kind: {schedule}, strands: {strands}}}\n{more}"
        )
        if variant == "no overlap":
            choices += OFF
        return self.write(f"{name} {variant}", choices, model=model)

    def silent(self, plan: Path) -> float:
        """Seconds of a step whose messages take next to nothing."""
        cluster = json.loads(self.cluster.read_text(encoding="utf-8"))
        cluster["nic"] *= FASTER
        for level in cluster["levels"]:
            level["bandwidth"] *= FASTER
        for level in cluster["levels"] + cluster["network"]:
            level["latency"] /= FASTER
        fast = self.folder / "fast.json"
        fast.write_text(json.dumps(cluster), encoding="utf-8")
        document = yaml.safe_load(plan.read_text(encoding="utf-8"))
        document["job"]["cluster"]["profile"] = str(fast)
        document["job"].pop("measured", None)
        path = plan.with_suffix(".fast.yaml")
        path.write_text(yaml.safe_dump(document), encoding="utf-8")
        return self.predicted(path)


def hidden(steps: dict[str, float], silent: float) -> float:
    """The part of the messages that two strands hide."""
    return 1 - (steps["two strands"] - silent) / (steps["no overlap"] - silent)


def gain(steps: dict[str, float]) -> float:
    """How much longer one strand takes."""
    return steps["one strand"] / steps["two strands"] - 1


COLUMNS = (
    "plan,no_overlap_predicted_s,no_overlap_s,one_strand_predicted_s,one_strand_s,"
    "two_strands_predicted_s,two_strands_s"
)


def table(rows: dict[str, dict]) -> str:
    """The seconds of each plan."""
    lines = [COLUMNS]
    for name, row in rows.items():
        seconds = [row[kind][v] for v in VARIANTS for kind in ("predicted", "measured")]
        cells = [f"{one:.4g}" for one in seconds]
        lines.append(f'"{name}",{",".join(cells)}')
    return "\n".join(lines) + "\n"


def report(rows: dict[str, dict]) -> str:
    """The page in Markdown."""
    lines = [
        "# Two strands in the lab",
        "",
        "`tools/lab/strands_lab.py --steps 2` ran plans in the emulated cluster",
        "`examples/emulation/strands.yaml`: ranks wait instead of computing (`--hold`), messages",
        "are real. All predictions were written down before the first plan ran (seconds:",
        "`data/lab_strands.csv`). Each cell of the table is predicted / measured. Column",
        '"messages" has the predicted share of messages in a step without overlap, "gain" how much',
        'longer a step takes with one micro-batch at a time than with two, "hidden" the share of',
        "the messages that two micro-batches at once hide.",
        "",
        "| plan | messages % | gain % | hidden % |",
        "|---|---|---|---|",
    ]
    for name, row in rows.items():
        predicted, measured, silent = row["predicted"], row["measured"], row["silent"]
        share = 1 - silent / predicted["no overlap"]
        cells = [name, f"{100 * share:.0f}"]
        cells.append(f"{100 * gain(predicted):.1f} / {100 * gain(measured):.1f}")
        cells.append(
            f"{100 * hidden(predicted, silent):.0f} / {100 * hidden(measured, silent):.0f}"
        )
        lines.append("| " + " | ".join(cells) + " |")
    off = [abs(gain(r["predicted"]) - gain(r["measured"])) for r in rows.values()]
    kept = [hidden(r["measured"], r["silent"]) for r in rows.values()]
    slower = [n for n, r in rows.items() if gain(r["predicted"]) > 0 > gain(r["measured"])]
    lines += [
        "",
        "Predicted gains of two micro-batches at once are off by "
        f"{100 * statistics.median(off):.1f} percentage points in the median of {len(rows)} plans, "
        f"{100 * max(off):.1f} at most. Two micro-batches at once hide "
        f"{100 * statistics.median(kept):.0f} % of the\nmessages in the median, "
        f"{100 * min(kept):.0f} % at least. Plans that ran slower although a gain was predicted: "
        f"{', '.join(slower) or 'none'}.",
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Predicts everything, then plays it."""
    parser = lab_options(__doc__, scale=60)
    parser.add_argument("--predict-only", action="store_true")
    parser.add_argument("--rows")
    options = parser.parse_args()
    with workplace(options) as (command, folder):
        lab = Strands(command, folder, options)
        chosen = [row for row in PLANS if re.search(options.only, row[0])]
        rows = {}
        for row in chosen:
            files = {variant: lab.plan(row, variant) for variant in VARIANTS}
            predicted = {variant: lab.predicted(path) for variant, path in files.items()}
            silent = lab.silent(files["one strand"])
            rows[row[0]] = {"files": files, "predicted": predicted, "silent": silent}
            print(
                f"{row[0]}: predicted gain {100 * gain(predicted):.1f} %, messages "
                f"{100 * (1 - silent / predicted['no overlap']):.0f} %, hidden "
                f"{100 * hidden(predicted, silent):.0f} %",
                file=sys.stderr,
            )
        if options.predict_only:
            return
        for name, row in rows.items():
            begin = time.monotonic()
            row["measured"] = {v: lab.played(path) for v, path in row["files"].items()}
            print(
                f"{name}: measured gain {100 * gain(row['measured']):.1f} %, hidden "
                f"{100 * hidden(row['measured'], row['silent']):.0f} %, "
                f"{time.monotonic() - begin:.0f} s",
                file=sys.stderr,
            )
        text = report(rows)
    if options.output:
        replace_text(options.output, text)
    if options.rows:
        replace_text(options.rows, table(rows))
    print(text)


if __name__ == "__main__":
    main()

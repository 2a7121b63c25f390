"""Writes python/stepwright/stepwright/answers.py: a dataclass for each answer that Python gives.

They are made from the JSON Schemas in docs/schemas/, so that no key is listed twice. `--check`
compares what the two say; how that is laid out is for the formatter, which `make check` installs.
"""

import argparse
import ast
import json
import keyword
import re
import subprocess
import sys
import textwrap
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from files import replace_text

ROOT = Path(__file__).resolve().parents[2]
TARGET = ROOT / "python/stepwright/stepwright/answers.py"

# Schema -> class of the whole answer and the list that is its table.
ANSWERS = {
    "predict": ("Prediction", "stages"),
    "tune": ("Tuning", "plans"),
    "tune-runs": ("Advice", "next"),
    "run": ("WholeRun", "losses"),
    "phases": ("PhasedStep", "phases"),
    "traffic": ("Traffic", "messages"),
    "memory": ("Memory", "stages"),
    "lengths": ("Lengths", ""),
    "validate": ("Validation", "results"),
    "fit": ("OperatorFit", "operators"),
    "fit-collectives": ("CollectiveFit", "profiles"),
    "fit-measured": ("MeasuredFit", "messages"),
    "fit-runs": ("Calibration", "runs"),
    "fit-snapshot": ("MemoryFit", ""),
    "compare": ("Comparison", "by_scheme"),
    "check": ("Check", "stages"),
    "diagnose": ("Diagnosis", "findings"),
    "import": ("ImportedPlan", "read"),
    "capture": ("LaunchRecord", "commands"),
}
# Classes of parts whose key says too little of them.
NAMES = {
    "predict#prediction": "PredictedStep",
    "tune#plan": "TunedPlan",
    "predict#prediction.losses": "Loss",
    "predict#prediction.documents.gains": "PackingGain",
    "tune.space": "SearchSpace",
    "tune.rejected": "Refusal",
    "tune.pareto": "FrontPoint",
    "tune.sweep": "SweepPoint",
    "tune.more_memory": "MemoryStep",
    "tune.two_strands": "TwoStrands",
    **{f"{answer}.remedies": "Remedy" for answer in ("predict", "tune", "check")},
    "diagnose.plan.remedies": "Remedy",
    "diagnose.plan": "PlanOfRun",
    "diagnose.files": "DiagnosedFile",
    "diagnose.findings.changes": "ProposedChange",
    "diagnose.findings.where": "FindingPlace",
    **{
        f"{answer}#{place}": name
        for answer in ("predict", "tune")
        for place, name in (
            ("whole_run", "RunSummary"),
            ("priced", "RunCost"),
            ("whole_run.low", "RunCost"),
            ("whole_run.high", "RunCost"),
            ("whole_run.steps_alone", "RunCost"),
        )
    },
    "predict#prediction.whole_run": "RunSummary",
    "tune#plan.whole_run": "RunSummary",
    "run#whole_run": "RunTime",
    "run#priced": "RunCost",
    "run#whole_run.low": "RunCost",
    "run#whole_run.high": "RunCost",
    "run#whole_run.steps_alone": "RunCost",
    "run#whole_run.losses": "RunLoss",
    "run.simulated": "SimulatedRuns",
    "run.candidates": "RunCandidate",
    "run.endless": "EndlessRun",
    "phases#totals": "StepTotals",
    "phases.phases": "StepPhase",
    "phases.splits": "PoolSplit",
    "tune-runs.best": "BestPlan",
    "tune-runs.next": "NextPlan",
    "tune-runs.runs": "RunCounts",
    "tune-runs.skipped": "SkippedRow",
    "tune-runs.skipped_candidates": "SkippedRow",
    "fit-runs.skipped": "SkippedRow",
    "validate.choices": "Choices",
    "validate.labels": "Labels",
    **{
        f"validate.by_{word}": "ErrorsOf"
        for word in (
            "source",
            "device",
            "framework",
            "scheme",
            "operator",
            "direction",
            "size",
            "operation",
            "layout",
        )
    },
    **{
        f"{answer}.snapshot{place}": name
        for answer in ("memory", "fit-snapshot")
        for place, name in (
            ("", "MemorySnapshot"),
            (".unexplained", "UnexplainedBlocks"),
            (".missing", "MissingBlocks"),
            (".ranks", "SnapshotRank"),
            (".ranks.unexplained", "UnexplainedBlocks"),
            (".ranks.missing", "MissingBlocks"),
            (".ranks.matched_by", "MatchedBytes"),
            (".ranks.failures", "FailedAllocation"),
            (".ranks.timeline", "TimelinePoint"),
        )
    },
    "fit.operators.series": "Series",
    "traffic.links": "LinkLoads",
    "traffic.links.levels": "LinkLoad",
    "traffic.links.nics": "LinkLoad",
    "traffic.totals": "SchemeTotal",
    "fit-measured.messages": "MessageLaw",
    "fit-measured.computations": "ComputationLaw",
    "traffic.histogram": "SizeClass",
    "compare.by_scheme": "SchemeCalls",
    "compare.by_size": "SizeCalls",
    "compare.below_knee": "ShortMessages",
    "compare.routed": "RoutedCalls",
    "fit-runs.runs": "CalibratedRun",
    "capture.commands": "CapturedCommand",
    "capture.commands.files": "CapturedFile",
}
# Answers that can do more than others.
BASES = {"Tuning": "TuningAnswer[TunedPlan]"}
UNITS = (
    ("_bytes_per_s", "bytes/s"),
    ("document_tokens_per_s", "1/s"),
    ("_bytes_per_rank", "bytes"),
    ("_per_s_per_device", "1/s of one device"),
    ("_bytes", "bytes"),
    ("_s", "seconds"),
    ("_us", "microseconds"),
    ("_share", "a fraction"),
    ("_error", "a fraction"),
    ("gpu_hours", "hours of one GPU, summed"),
    ("days", "days"),
    ("mfu", "a fraction"),
    ("hfu", "a fraction"),
    ("p_fits", "a probability"),
    ("peak_flops", "FLOP/s"),
    ("tflops_per_device", "1e12 FLOP/s"),
)
HEADER = '''"""What the commands answer, as the JSON Schemas of docs/schemas/ describe it.

Written by tools/docs/python_answers.py; what is not there in an answer is None.
"""

from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from .answer import Answer, Part, TuningAnswer
from .documents import Plan

'''


@dataclass
class Class:
    """A class to write: its base, and type, description and necessity by key."""

    name: str
    base: str
    title: str
    keys: dict = field(default_factory=dict)
    table: str = ""

    def shape(self) -> tuple:
        return (self.base, json.dumps(self.keys))


def camel(key: str) -> str:
    return "".join(part.capitalize() for part in re.split(r"[_-]", key))


def singular(word: str) -> str:
    return word[:-1] if word.endswith("s") and not word.endswith(("ss", "ies")) else word


class Writer:
    """Collects the classes of all schemas, those that others need first."""

    def __init__(self) -> None:
        self.classes: dict[str, Class] = {}

    def add_answer(self, name: str) -> None:
        schema = json.loads((ROOT / "docs/schemas" / f"{name}.json").read_text(encoding="utf-8"))
        self.definitions = {
            f"#/$defs/{key}": (f"{name}#{key}", part)
            for key, part in schema.get("$defs", {}).items()
        }
        title, table = ANSWERS[name]
        self.add_class(schema, name, title, table, whole=True)

    def add_class(
        self, schema: dict, place: str, name: str, table: str = "", *, whole: bool = False
    ) -> str:
        """The name of the class of a mapping with listed keys."""
        base = BASES.get(name, "Answer") if whole else "Part"
        if "$ref" in schema:
            base_place, definition = self.definitions[schema["$ref"]]
            base = self.add_class(definition, base_place, NAMES[base_place])
            if not schema.get("properties"):
                return base
            base = f"{base}, Answer" if whole else base
        made = Class(name, base, schema.get("description", schema.get("title", "")), table=table)
        for key, part in schema["properties"].items():
            made.keys[key] = (
                self.type_of(part, f"{place}.{key}"),
                part.get("description", ""),
                key in schema.get("required", ()),
            )
        known = self.classes.get(name)
        if known and known.shape() != made.shape():
            parent = re.split(r"[.#]", place)[-2]
            return self.add_class(schema, place, ANSWERS.get(parent, (camel(parent),))[0] + name)
        self.classes.setdefault(name, made)
        return name

    def type_of(self, part: dict, place: str, one_of_many: bool = False) -> str:
        kinds = part.get("type", "object")
        kinds = [kinds] if isinstance(kinds, str) else list(kinds)
        if "enum" in part:
            words = ("None" if word is None else json.dumps(word) for word in part["enum"])
            return f"Literal[{', '.join(words)}]"
        words = [
            self.type_of_kind(kind, part, place, one_of_many) for kind in kinds if kind != "null"
        ]
        return " | ".join(words + ["None"] * ("null" in kinds))

    def type_of_kind(self, kind: str, part: dict, place: str, one_of_many: bool) -> str:
        if kind == "array":
            items = part.get("items", {})
            return f"list[{self.type_of(items, place, True) if items else 'Any'}]"
        if kind != "object":
            return {"string": "str", "integer": "int", "number": "float", "boolean": "bool"}[kind]
        if part.get("description", "").startswith("A plan:"):
            return "Plan"
        if "$ref" in part or "properties" in part:
            key = place.rsplit(".", 1)[-1]
            name = NAMES.get(place, camel(singular(key) if one_of_many else key))
            return self.add_class(part, place, name)
        values = part.get("additionalProperties")
        values = values if isinstance(values, dict) else None
        return f"dict[str, {self.type_of(values, place, True) if values else 'Any'}]"


def unit_of(key: str) -> str:
    return next((unit for ending, unit in UNITS if key.endswith(ending)), "")


def words_of(key: str, description: str) -> str:
    """What a key is, with its unit."""
    unit = unit_of(key)
    words = description.rstrip(".")
    if unit and unit.split()[0].lower() not in words.lower():
        words = f"{words}; {unit}" if words else unit
    return words[:1].upper() + words[1:]


def lines_of(made: Class) -> list[str]:
    lines = ["", "@dataclass(frozen=True, kw_only=True)", f"class {made.name}({made.base}):"]
    lines.append(f'    """{made.title or made.name}."""'.replace('.."', '."'))
    if made.table:
        lines += ["", f'    table: ClassVar[str] = "{made.table}"']
    for key, (kind, description, required) in made.keys.items():
        name = key + "_" if keyword.iskeyword(key) else key
        settings = [] if required else ["default=None"]
        settings += [f'metadata={{"key": "{key}"}}'] if name != key else []
        kind = kind if required or kind.endswith("None") else f"{kind} | None"
        value = f" = field({', '.join(settings)})" if name != key else ""
        value = value or ("" if required else " = None")
        lines.append(f"    {name}: {kind}{value}")
        if words := words_of(key, description):
            lines += textwrap.wrap(
                f'"""{words}."""', 100, initial_indent="    ", subsequent_indent="    "
            )
    return lines


def text() -> str:
    writer = Writer()
    for name in ANSWERS:
        writer.add_answer(name)
    lines = [line for made in writer.classes.values() for line in [*lines_of(made), ""]]
    names = ", ".join(f'"{name}"' for name in sorted(writer.classes))
    return HEADER + f"__all__ = [{names}]\n\n" + "\n".join(lines)


def formatted(raw: str) -> str:
    """The same text as the house formats it."""
    ruff = ROOT / ".venv/bin/ruff"
    if not ruff.exists():
        sys.exit(f"{ruff} is not there: tools/setup.sh check installs it")
    command = [ruff, "format", "--quiet", "--stdin-filename", str(TARGET), "-"]
    return subprocess.run(command, input=raw, capture_output=True, text=True, check=True).stdout


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    made = text()
    if parser.parse_args().check:
        committed = TARGET.read_text(encoding="utf-8")
        same = ast.dump(ast.parse(committed)) == ast.dump(ast.parse(made))
        print("the same" if same else f"{TARGET.name} is not what the schemas say")
        return 0 if same else 1
    replace_text(TARGET, formatted(made))
    return 0


if __name__ == "__main__":
    sys.exit(main())

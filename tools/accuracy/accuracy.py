"""Writes docs/accuracy.md, and in docs/accuracy/ the tables and pictures behind it: what the models
get wrong, by how much, and where.

    tools/accuracy/accuracy.py --command build/release/stepwright \
        --left-out docs/accuracy/left_out.md

Published rows are predicted by `stepwright validate`; the report of
tools/accuracy/fit_conditions.py (--report) tells the errors of whole runs on sources and rows left
out.
"""

import argparse
import csv
import json
import math
import re
import statistics
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from files import replace_text

COLORS = ["#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e", "#8c564b", "#17becf", "#7f7f7f"]

WRITTEN = (
    "Written by `make accuracy` (`tools/accuracy/accuracy.py`). Errors are\n"
    "`predicted / measured - 1` in %; negative: predicted too fast, or too small.\n"
)

INTRODUCTION = """# Accuracy

How far off is a predicted step, by kind of job, and what makes it better. Errors are
`predicted / measured - 1` in %. `make accuracy` writes this page and the tables behind it.

"""

# Tables of stacks and devices that no constant saw, and what the rows of each source are.
UNSEEN = (
    ("training_runs_3", "torchtitan", "torchtitan in bf16 and float8, H100, H200 and A100"),
    ("training_runs_3", "mlperf", "MLPerf 6.0, GB200, GB300 and B300"),
    ("training_runs_4", "mlperf_amd", "MLPerf 5.0 and 5.1 on AMD"),
    ("training_runs_4", "torchao", "torchtitan by torchao, many on boards with a power limit"),
    ("training_runs_4", "msswift", "ms-swift on A800 and H20"),
    ("training_runs_4", "sailor", "Sailor: small GPTs in fp32 on GH200"),
    ("verification_cards", "", "Megatron-Bridge's tuned recipes, Blackwell"),
)

BETTER = """## What makes it better

- **Name the framework** (`framework`). Without a name all kernels are taken as fused; `predict`
  then says what the frameworks take that run the plan.
- **State what clocks and networks are**: `cluster.board_power` where `nvidia-smi` shows a limit
  below the usual one, `cluster.all_reduce` from one `nccl-tests` line of all devices.
- **State how even experts are** (`imbalance`), if the run has begun.
- **Measure three steps** and say so: `tune --runs` ([formats.md](formats.md)). Plans of the same
  job are then off by 2 to 4 % ([own runs](accuracy/own_runs.md)).
- What is known least, and the measurement that would mend each:
  [accuracy/poorly_known.md](accuracy/poorly_known.md).

"""

APPENDICES = (
    (
        ["left_out"],
        "runs fitted, and left out by source, framework, generation and kind; choices; intervals",
    ),
    (
        ["unseen_tables"],
        "tables as they came out before any of their rows was seen, and what was found since",
    ),
    (
        ["fitted_runs"],
        "runs as the shipped constants predict them",
    ),
    (["own_runs"], "how fast a person's own runs make predictions right"),
    (["memory"], "peaks, labels, allocated bytes of known commands; margins left out"),
    (["single_operators"], "single operators by device, collectives by machine"),
    (["configurations"], "the published configurations of arXiv 2509.22832"),
    (
        ["framework_memory", "launch_files", "own_h100"],
        "programs of frameworks, other people's launch files, runs of this project",
    ),
)

POORLY_KNOWN = [
    (
        "torchtitan on Blackwell",
        (
            "torchao's steps on B200 (nine rows, 45.6 % too fast) take a third of a second more "
            "than predicted, in bf16, float8 and MXFP8 alike, where its own samples of products "
            "and steps on H100 agree; another B200 ran the same step in 0.67 s in place of 0.99 "
            "(torchtitan's pull request 1196). FlashAttention-2 in place of cuDNN's kernel would "
            "be 0.18 s"
        ),
        "a trace of one step on a B200, and `nvidia-smi` with its limit and clocks",
    ),
    (
        "mixtures outside of tuned recipes",
        (
            "steps of Qwen3-30B-A3B and of others by community's launch scripts come out 20 % too "
            "fast, where NVIDIA's own recipes of the same models are right: how even the experts "
            "were and which network lay between the nodes is not stated"
        ),
        "tokens per expert of one step, its trace, and `nccl-tests` between the nodes",
    ),
    (
        "choices among plans of mixtures",
        (
            "all tables have one group of plans of a mixture that can be judged: five ways to "
            "recompute Moonlight-16B on eight H100, whose fastest is chosen (tau 0.80, its source "
            "left out). A second has three plans of Qwen3-235B on 256 H100 of which two took "
            "equally long; the one of Megatron-FSDP comes out 27 % too slow"
        ),
        "one mixture by plans of unlike expert and pipeline degrees on one cluster",
    ),
    (
        "all-reduces of small layers in fp32 on Hopper",
        (
            "Sailor's OPT-350M on GH200 comes out 36 % too fast, its GPT-Neo 17 %: by its profiles "
            "a layer on two and four tensor ranks takes 1.6 to 1.9 ms that do not grow with the "
            "micro-batch, on one rank none, as if each of its four all-reduces took 0.4 ms beside "
            "its bytes"
        ),
        "a trace of one micro-batch on one and on four ranks",
    ),
    (
        "contexts of four and eight ranks",
        (
            "torchtitan's two rows of 131,072 and 262,144 tokens come out 34 and 38 % too fast, "
            "those of one and two ranks 10 %: attention costs 1.5 times as much for each FLOP as "
            "on one and two ranks. PyTorch's ring merges in fp32 and sends keys of all heads, 3 s "
            "of the 60"
        ),
        "a trace of one layer on eight ranks",
    ),
    (
        "hosts of stages on several nodes",
        (
            "the grid of one stack shows the law, on a network that was in a bad state in most of "
            "those rows; of other stacks its share stays near the prior"
        ),
        "one plan with pipeline inside a node and one across nodes, small micro-batches",
    ),
    (
        "gradients over many nodes",
        (
            "how much less of a network large groups attain is a state of it: about 0 on all that "
            "were sampled, a power of 0.6 to 0.8 on AWS p5 in a bad month. A job may say it "
            "(`cluster.all_reduce`), but how groups of fewer ranks crowd is a law of few samples: "
            "replicated optimizers come out 10 to 40 % too fast on the slow network"
        ),
        "`nccl-tests` from 1 MB to 1 GB on a half and on all of the nodes, when the job starts",
    ),
    (
        "the network of arXiv 2311.05610",
        (
            "how many NICs its nodes have is not stated; with eight, left out, its plans come out "
            "as if gradients took 2.7 times as long (`docs/accuracy/unseen_tables.md`)"
        ),
        "the authors' word, or `nccl-tests` on their cluster",
    ),
    (
        "parameters by broadcasts",
        (
            "InternEvo refreshes parameters by broadcasts of their owners: rows of 512 and 1,024 "
            "devices with states over all of them come out 7 to 17 % too fast"
        ),
        "a trace of the end of a step",
    ),
    (
        "tensor groups over two nodes",
        "16 plans of one stack with 16 and 32 tensor ranks come out 13 % too fast in the median",
        "`nccl-tests` with small messages on two nodes",
    ),
    (
        "layers of gpt-oss",
        (
            "clamped activation and sinks are priced as the fused kernels of other models: 18 rows "
            "come out 13 % too fast in the median, on H100 2 % too slow"
        ),
        "samples of one layer on Blackwell",
    ),
    (
        "time between steps",
        "13 ms in the middle, 1 to 32 by framework: loggers, loaders and barriers are not modelled",
        "a trace over two steps",
    ),
    (
        "host time of MoE layers",
        "one constant per framework: routers whose counts the host waits for are not told apart",
        "a profiler trace of a step with one micro-batch",
    ),
    (
        "larger tensor degrees",
        (
            "of plans that differ in the tensor degree alone the larger one comes out 16 % (the "
            "grid, left out) and 5 % (arXiv 2311.05610) faster against the smaller one than it "
            "was; in BLOOM's runs a part of it was hosts that waited for each kernel"
        ),
        "a layer traced at tensor 1, 2, 4 and 8 of one stack, with a pipeline and without",
    ),
    (
        "FlashAttention-1 and Triton kernels",
        "shares from papers",
        "attention samples for `stepwright fit`",
    ),
    (
        "fp8 and narrower products",
        "speed-ups from published runs, casts counted apart",
        "GEMM samples in fp8, mxfp8, nvfp4",
    ),
    (
        "permutation and uneven groups of experts",
        "laws of other operators",
        "samples of both",
    ),
    (
        "Blackwell Ultra in a run",
        "a prior from power and datasheets, few sources",
        "one dense and one MoE run",
    ),
    (
        "networks with few samples",
        "documented defaults; notes say `unfitted`",
        "`nccl-tests` on two and more nodes, for `stepwright fit`",
    ),
    (
        "memory outside of tensors",
        "three margins per framework",
        "peaks of the allocator and of nvidia-smi",
    ),
]


def validated(command: str, table: str, *options: str) -> dict:
    """What `stepwright validate --json` says of a table."""
    done = subprocess.run(
        [command, "validate", table, "--json", *options],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        sys.exit(f"{table}: {done.stderr}")
    return json.loads(done.stdout)


def percent(value: float) -> str:
    """Of a fraction, without the sign of percent."""
    return f"{100 * value:.1f}"


def statistics_row(name: str, one: dict) -> str:
    """A line of the tables of groups."""
    median, mean = percent(one["median_abs_error"]), percent(one["mean_abs_error"])
    return f"| {name} | {one['used']} | {median} | {mean} |"


def groups(title: str, by: dict) -> str:
    """A table of groups with at least three rows."""
    lines = [f"| {title} | rows | median | mean |", "|---|---|---|---|"]
    lines += [statistics_row(name, one) for name, one in by.items() if one["used"] >= 3]
    return "\n".join(lines) + "\n"


def scatter(results: list[dict], by: str, unit: str, scale: float) -> str:
    """An SVG of predicted over measured, both logarithmic, coloured by a column."""
    names = sorted({r.get(by, "") for r in results})
    points = [
        (r["measured"] * scale, r["predicted"] * scale, r.get(by, ""))
        for r in results
        if r["measured"] > 0 and r["predicted"] > 0
    ]
    low = math.floor(math.log10(min(min(p[:2]) for p in points)))
    high = math.ceil(math.log10(max(max(p[:2]) for p in points)))
    size, left, top = 420.0, 60.0, 20.0

    def place(value: float) -> float:
        return size * (math.log10(value) - low) / (high - low)

    parts = [
        '<svg xmlns="http://www.w3.org/2000/svg" width="700" height="490" '
        'font-family="sans-serif" font-size="11">',
        '<rect width="700" height="490" fill="white"/>',
    ]
    for power in range(low, high + 1):
        at = place(10.0**power)
        x, y = left + at, top + size - at
        parts.append(f'<path d="M{x:.1f} {top}V{top + size}M{left} {y:.1f}h{size}" stroke="#ddd"/>')
        parts.append(
            f'<text x="{x:.1f}" y="{top + size + 15}" text-anchor="middle">1e{power}</text>'
        )
        parts.append(f'<text x="{left - 6}" y="{y + 4:.1f}" text-anchor="end">1e{power}</text>')
    parts.append(f'<path d="M{left} {top + size}L{left + size} {top}" stroke="black"/>')
    for measured, predicted, name in points:
        color = COLORS[names.index(name) % len(COLORS)]
        x, y = left + place(measured), top + size - place(predicted)
        parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2" fill="{color}" fill-opacity="0.6"/>')
    for i, name in enumerate(names):
        y = top + 14 * (i + 1)
        color = COLORS[i % len(COLORS)]
        parts.append(f'<circle cx="{left + size + 20}" cy="{y - 4}" r="4" fill="{color}"/>')
        parts.append(f'<text x="{left + size + 30}" y="{y}">{name}</text>')
    parts.append(
        f'<text x="{left + size / 2}" y="478" text-anchor="middle">measured, {unit}</text>'
    )
    parts.append(
        f'<text x="14" y="{top + size / 2}" text-anchor="middle" '
        f'transform="rotate(-90 14 {top + size / 2})">predicted, {unit}</text></svg>'
    )
    return "\n".join(parts) + "\n"


def runs(command: str, pictures: Path) -> str:
    """Whole runs, as the shipped constants predict them."""
    found = validated(command, "data/training_runs.csv", "--tier", "A")
    second = validated(command, "data/training_runs_2.csv", "--tier", "A")
    text = scatter(found["results"], "framework", "seconds of a step", 1.0)
    replace_text(pictures / "runs.svg", text)
    return "\n".join(
        [
            "# Whole runs, fitted\n",
            WRITTEN,
            f"`stepwright validate data/training_runs.csv --tier A`: {found['used']} rows, median "
            f"{percent(found['median_abs_error'])}, mean {percent(found['mean_abs_error'])}.\n"
            "`stepwright validate data/training_runs_2.csv --tier A`, those of the grid below 10 % "
            f"utilisation too: {second['used']} rows, median "
            f"{percent(second['median_abs_error'])}, mean {percent(second['mean_abs_error'])}.\n",
            "Both commands print the errors by source, device, framework and scheme, and the rows "
            "that are\nfarthest off.\n",
            "![predicted over measured step times](runs.svg)\n",
        ]
    )


def memory(command: str, pictures: Path) -> str:
    """Peaks and labels."""
    found = validated(command, "data/memory.csv")
    second = validated(command, "data/memory_2.csv")
    labels = found["labels"]
    clear = labels["clear_right"] + labels["clear_wrong"]
    peaks = [r for r in found["results"] if r.get("measured")]
    text = scatter(peaks, "framework", "GiB", 2.0**-30)
    replace_text(pictures / "memory.svg", text)
    return "\n".join(
        [
            "# Memory\n",
            WRITTEN,
            "`stepwright validate data/memory.csv`. Margins of frameworks were fitted to them.\n",
            f"Peaks whose kind is stated: median {percent(found['median_abs_error'])}, mean "
            f"{percent(found['mean_abs_error'])}.\n",
            f"Fits or out of memory: {labels['right']} right, {labels['wrong']} wrong "
            f"({labels['fits_called_oom']} that fit called out of memory, "
            f"{labels['oom_called_fits']} the reverse); of the {clear} more than 5 % away from the "
            f"capacity {labels['clear_right']} right "
            f"({percent(labels['clear_right'] / clear)} %).\n",
            f"`stepwright validate data/memory_2.csv`: {second['used']} rows, none of which a "
            f"margin saw; median {percent(second['median_abs_error'])}, mean "
            f"{percent(second['mean_abs_error'])}. Peaks that say neither allocated nor reserved "
            "are not judged.\n",
            "![predicted over measured peaks](memory.svg)\n",
            groups("source", found["by_source"]),
        ]
    )


# A table of launches, whose runs they are, and where its ranks stand.
LAUNCHES = (
    ("launches_megatron_ci", "Megatron-LM's own tests", "the last rank"),
    ("torchtitan_fake_h100", "torchtitan as one rank of many", "a rank of the first or last stage"),
)


def launches(command: str, table: str, whose: str, rank: str) -> str:
    """What the allocator counted in runs of which the command is known."""
    found = validated(command, f"data/{table}.csv")
    quantities = list(found["by_quantity"])
    lines = [
        f"## Allocated memory of {whose}\n",
        f"`stepwright validate data/{table}.csv`: "
        f"{found['used']} of {found['rows']} commands are read; what PyTorch's allocator counts on "
        f"{rank}.\nNothing was fitted to them. A cell has median and p90, and the shares "
        "within 5 and 10 %.\n",
        f"| model | n | {' | '.join(quantities)} |\n|---|---|{'---|' * len(quantities)}",
    ]
    for model in ("all", *found["by_model"]):
        results = [r for r in found["results"] if model in ("all", r["model"])]
        each = [
            sorted(abs(r["error"]) for r in results if r["quantity"] == quantity)
            for quantity in quantities
        ]
        counts = ", ".join(dict.fromkeys(str(len(errors)) for errors in each))
        lines.append(line_of([model, counts, *map(allocated_cell, each)]))
    return "\n".join(lines) + "\n"


def allocated_cell(errors: list[float]) -> str:
    """Median and p90 of sorted errors, and the shares within 5 and 10 %."""
    middle, ninth = statistics.median(errors), errors[int(0.9 * (len(errors) - 1))]
    within = [percent(sum(e < b for e in errors) / len(errors)) for b in (0.05, 0.1)]
    return f"{percent(middle)}, {percent(ninth)}; {', '.join(within)}"


def read_csv(path: str) -> list[dict[str, str]]:
    """The rows of a table."""
    with Path(path).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def predicted_step(command: str, plan: Path) -> float:
    """Seconds of a step."""
    done = subprocess.run(
        [command, "predict", plan, "--json"], capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)["step_time_s"]


def slices_of_one_micro_batch(command: str, plan: Path) -> list[dict]:
    """The timeline of a step with one micro-batch, where nothing waits for another."""
    text = plan.read_text(encoding="utf-8")
    data, micro = (int(re.search(rf"{key}: (\d+)", text)[1]) for key in ("data", "micro_batch"))
    with tempfile.TemporaryDirectory() as folder:
        trace = Path(folder) / "trace.json"
        one = f"batch.sequences={data * micro}"
        subprocess.run(
            [command, "predict", plan, "--set", one, "--trace", trace],
            capture_output=True,
            check=True,
        )
        events = json.loads(trace.read_text(encoding="utf-8"))["traceEvents"]
    return [e for e in events if e.get("cat") == "kernel"]


def span(slices: list[dict]) -> float:
    """Seconds from the first start to the last end."""
    return 1e-6 * (max(e["ts"] + e["dur"] for e in slices) - min(e["ts"] for e in slices))


def components(command: str, plan: Path) -> dict[str, float]:
    """Seconds of the pieces that the article reports: a layer, the slowest stage, a message."""
    kernels = slices_of_one_micro_batch(command, plan)
    work = [e for e in kernels if e["args"]["phase"] != "optimizer"]
    work = [e for e in work if e["args"].get("scheme") not in ("data", "control", "pipeline")]
    passes: dict[tuple[str, int], list[dict]] = {}
    for e in work:
        way = "forward" if e["args"]["phase"] == "forward" else "backward"
        passes.setdefault((way, e["pid"]), []).append(e)
    found = {}
    for way in ("forward", "backward"):
        second = [e for e in passes[way, 1]]
        layer = min(e["args"]["layer"] for e in second if e["args"]["layer"] >= 0)
        found[f"encoder_{way}"] = span([e for e in second if e["args"]["layer"] == layer])
        found[f"stage_{way}"] = max(span(s) for (w, _), s in passes.items() if w == way)
    found["tensor_all_reduce"] = 1e-6 * next(
        e["dur"] for e in passes["forward", 1] if e["args"].get("scheme") == "tensor"
    )
    return found


def configuration_table(command: str) -> str:
    """Whole steps."""
    lines = [
        "| plan | implied measurement, s | predicted, s | error | published, s | error |",
        "|---|---|---|---|---|---|",
    ]
    errors: dict[str, list[float]] = {}
    for row in read_csv("data/configurations/published.csv"):
        step = predicted_step(command, Path(f"data/configurations/{row['plan']}.yaml"))
        cells = ["", f"{step:.3g}", "", row["predicted_s"], ""]
        if row["error"]:
            measured = float(row["predicted_s"]) / (1 + float(row["error"]))
            error = step / measured - 1
            errors.setdefault(row["plan"].rsplit("-", 1)[1], []).append(abs(error))
            cells[0], cells[2] = f"{measured:.3g}", f"{100 * error:+.1f}"
            cells[4] = f"{100 * float(row['error']):+.1f}"
        lines.append(f"| {row['plan']} | " + " | ".join(cells) + " |")
    means = ", ".join(f"{d} {percent(statistics.mean(e))}" for d, e in sorted(errors.items()))
    return "\n".join(lines) + f"\n\nMean absolute error: {means} (published: 4.98 and 9.38).\n"


def component_table(command: str) -> str:
    """Pieces of a step; their measured times are known where their prediction was published."""
    lines = [
        "| plan | component | predicted, ms | error | published error |",
        "|---|---|---|---|---|",
    ]
    known: dict[str, dict[str, float]] = {}
    for row in read_csv("data/configurations/components.csv"):
        plan = row["plan"]
        if plan not in known:
            known[plan] = components(command, Path(f"data/configurations/{plan}.yaml"))
        seconds = known[plan][row["component"]]
        error = ""
        if row["predicted_s"]:
            measured = float(row["predicted_s"]) / (1 + float(row["error"]))
            error = f"{100 * (seconds / measured - 1):+.1f}"
        component = row["component"].replace("_", " ")
        published = f"{100 * float(row['error']):+.1f}"
        lines.append(f"| {plan} | {component} | {1e3 * seconds:.1f} | {error} | {published} |")
    return "\n".join(lines) + "\n"


def configurations(command: str) -> str:
    """Published configurations: their measured steps follow from a prediction and its error."""
    return (
        f"# Configurations of arXiv 2509.22832\n\n{WRITTEN}\n"
        "`stepwright predict data/configurations/*.yaml`; nothing was fitted to them.\n"
        "Measured times are not published; implied ones are the published prediction over one "
        "plus its\npublished error. `tools/accuracy/accuracy.py --components` prints the pieces "
        "of the steps likewise.\n\n" + configuration_table(command)
    )


def poorly_known() -> str:
    """What would improve the models."""
    parts = [
        "# What is poorly known, and what to measure\n",
        f"{WRITTEN}A handful of own runs calibrates one's own device and framework:\n"
        "`stepwright fit --runs` ([formats.md](../formats.md)).\n",
    ]
    for term, why, tells in POORLY_KNOWN:
        title = f"{term[0].upper()}{term[1:]}"
        text = f"- **{title}**: {why}. *Measure*: {tells}."
        parts.append(textwrap.fill(text, 120, break_on_hyphens=False, subsequent_indent="  "))
    return "\n".join(parts) + "\n"


def section(written: Path) -> str:
    """A document of its own as a section of another one."""
    title, text = written.read_text(encoding="utf-8").split("\n", 1)
    return f"#{title}\n" + text.replace("\n## ", "\n### ")


def memory_left_out(folder: Path) -> str:
    """What tools/accuracy/fit_memory.py wrote; where it did not run, what the page has of it."""
    written = Path("build/fits/memory_left_out.md")
    if written.exists():
        return section(written)
    page = (folder / "memory.md").read_text(encoding="utf-8")
    return page[page.index("## Memory, left out") :]


def line_of(cells: list[str]) -> str:
    """A row of a table."""
    return "| " + " | ".join(cells) + " |"


def of_table(text: str, name: str, column: str) -> list[str]:
    """Median, mean, p90 and signed median of a cell of docs/accuracy/left_out.md."""
    lines = [line for line in text.splitlines() if line.startswith("|")]
    table = [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in lines]
    place = table[0].index(column)
    for cells in table:
        if cells[0] == name:
            return cells[place].split(", ")
    sys.exit(f"docs/accuracy/left_out.md: no row '{name}'")


def known_kinds(left_out: str) -> str:
    """Errors of runs by what was known of their stack."""
    known = (
        ("framework and GPU generation known", "fitted"),
        ("a source that nobody saw", "source"),
        ("a framework that nobody saw", "framework"),
        ("a GPU generation that nobody saw", "generation"),
        ("such a kind of runs that nobody saw", "kind"),
    )
    lines = [
        "| what is known | dense: median, nine of ten within | with experts |",
        "|---|---|---|",
    ]
    for name, of in known:
        cells = [of_table(left_out, sort, of) for sort in ("dense", "with experts")]
        lines.append(line_of([name, *(f"{one[0]}, {one[2]}" for one in cells)]))
    return "\n".join(lines) + "\n"


def inside(results: list[dict]) -> int:
    """How many rows were measured within the interval of their prediction."""
    return sum(r["low_s"] <= r["measured"] <= r["high_s"] for r in results)


def unseen(command: str) -> str:
    """Errors of tables whose rows took part in no fit, by source."""
    lines = [
        "| runs | n | median | nine of ten within | signed | inside their interval of 80 % |",
        "|---|---|---|---|---|---|",
    ]
    tables = {name: validated(command, f"data/{name}.csv")["results"] for name, _, _ in UNSEEN}
    every: list[dict] = []
    for name, source, words in UNSEEN:
        rows = [r for r in tables[name] if r["source"].startswith(source)]
        every += rows
        lines.append(unseen_line(words, rows))
    lines.append(unseen_line("**all**", every))
    return "\n".join(lines) + "\n"


def unseen_line(words: str, rows: list[dict]) -> str:
    """A row of the table of unseen runs."""
    errors = [r["error"] for r in rows]
    size = sorted(abs(e) for e in errors)
    ninth = size[math.ceil(0.9 * len(size)) - 1]
    signed = f"{100 * statistics.median(errors):+.1f}"
    held = f"{inside(rows)} of {len(rows)}"
    middle = percent(statistics.median(size))
    return line_of([words, str(len(rows)), middle, percent(ninth), signed, held])


def appendices() -> str:
    """The table of the documents behind the page."""
    lines = ["## The tables behind this page\n", "| document | what it has |", "|---|---|"]
    for names, words in APPENDICES:
        links = ", ".join(f"[{name}.md](accuracy/{name}.md)" for name in names)
        lines.append(line_of([links, words]))
    return "\n".join(lines) + "\n"


def page(command: str, left_out: str) -> str:
    """docs/accuracy.md: one page for people."""
    summary = json.loads(Path("docs/accuracy/left_out.json").read_text(encoding="utf-8"))
    choices = summary["source"]["choices"]
    even = summary["kind"]
    peaks = validated(command, "data/memory.csv")
    labels = peaks["labels"]
    clear = labels["clear_right"] + labels["clear_wrong"]
    known = (
        f"{summary['source']['used']} published runs. In a row but the first, constants were "
        "fitted again without the runs that judge.\n\n"
    )
    once = (
        "\nKinds of runs (framework, GPU generation, dense or experts, 16 bits or fewer) counted "
        f"once each, {even['places']} of them:\n{percent(even['median_of_places'])} % in the "
        "median, each left out.\n\n"
    )
    aside = (
        "Tables that were kept aside. Laws and words were looked for in public code after their "
        "errors were known,\nno constant was fitted to them.\n\n"
    )
    intervals = (
        "\nEvery answer has an interval that is to hold 80 % of the runs. It is wider the farther "
        "a job is from\nruns that were measured ([how wide](models.md#intervals-of-a-step)). "
        "Sources of this table give its ends;\n[left_out.md](accuracy/left_out.md) judges each "
        "by the ends that the others give.\n\n"
    )
    decided = (
        f"- Of {choices['groups']} groups of plans for one job, the plan chosen without its source "
        f"is {percent(choices['mean_regret'])} % slower than the\n  fastest in the mean and the "
        f"fastest itself in {choices['best_chosen']} groups.\n"
        "- Peaks of memory whose kind is stated are off by "
        f"{percent(peaks['median_abs_error'])} % in the median. Of {clear} runs that are\n"
        f"  more than 5 % away from the capacity {percent(labels['clear_right'] / clear)} % are "
        "told right to fit or to run out.\n\n"
    )
    return (
        INTRODUCTION
        + "## Steps of known and of unknown stacks\n\n"
        + known
        + known_kinds(left_out)
        + once
        + "## Stacks and devices that no constant saw\n\n"
        + aside
        + unseen(command)
        + intervals
        + "## Choices and memory\n\n"
        + decided
        + BETTER
        + appendices()
    )


def main() -> int:
    """Writes the page and its tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--command", default="build/release/stepwright")
    parser.add_argument("--left-out", type=Path, default=Path("docs/accuracy/left_out.md"))
    parser.add_argument(
        "--components", action="store_true", help="print pieces of published steps instead"
    )
    options = parser.parse_args()
    folder = Path("docs/accuracy")
    command = options.command
    if options.components:
        print(component_table(command), end="")
        return 0
    texts = {
        "fitted_runs": [runs(command, folder)],
        "configurations": [configurations(command)],
        "memory": [
            memory(command, folder),
            *(launches(command, *each) for each in LAUNCHES),
            memory_left_out(folder),
        ],
        "poorly_known": [poorly_known()],
    }
    for name, parts in texts.items():
        replace_text(folder / f"{name}.md", "\n".join(parts))
    left_out = options.left_out.read_text(encoding="utf-8")
    replace_text("docs/accuracy.md", page(command, left_out))
    return 0


if __name__ == "__main__":
    sys.exit(main())

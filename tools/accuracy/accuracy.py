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
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from files import replace_text

COLORS = ["#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e", "#8c564b", "#17becf", "#7f7f7f"]

WRITTEN = (
    "Errors are `predicted / measured - 1` in %: negative if a prediction is too fast or too "
    "small.\n"
)

INTRODUCTION = """# Accuracy

This page says how far off predicted training steps are, by kind of job, and what makes predictions
better. Errors are `predicted / measured - 1` in %.

"""

# Tables of stacks and devices that no constant saw, and what the rows of each source are.
UNSEEN = (
    ("training_runs_3", "torchtitan", "torchtitan in bf16 and float8, H100, H200 and A100"),
    ("training_runs_3", "mlperf", "MLPerf 6.0, GB200, GB300 and B300"),
    ("training_runs_4", "mlperf_amd", "MLPerf 5.0 and 5.1 on AMD"),
    ("training_runs_4", "torchao", "torchtitan by torchao, boards with a power limit"),
    ("training_runs_4", "msswift", "ms-swift on A800 and H20"),
    ("training_runs_4", "sailor", "Sailor: small GPTs in fp32 on GH200"),
    ("verification_cards", "", "Megatron-Bridge's tuned recipes, Blackwell"),
    ("training_runs_5", "qwen_readme", "transformers with adapters or ZeRO-3, A100"),
    ("training_runs_5", ("mcore", "mixtral", "pai", "primus"), "Megatron-Core's mixtures"),
    ("training_runs_5", "titan_moe", "torchtitan's mixtures, H100 and B200"),
    ("training_runs_5", "swissai", "Megatron-LM on GH200"),
    ("training_runs_6", ("dlrover", "fms", "tinyllama"), "FSDP and DeepSpeed's pipeline, A100"),
    ("training_runs_6", "kempner", "FSDP with tensor parallelism, H200"),
    ("training_runs_6", "te_fsdp", "FSDP, Transformer Engine, MI300X and H200"),
)

BETTER = """## What makes it better

- **Name the framework** (`framework`). Without a framework, predictions assume fused kernels, and
  `predict` also prints the step times of frameworks that run the plan.

- **State clocks and networks**: `cluster.board_power` if `nvidia-smi` shows a power limit below the
  usual one, `cluster.all_reduce` from one `nccl-tests` line of all devices.

- **State how unevenly a router uses experts** (`imbalance`) once the run has begun.

- **Measure three steps** and give them to `tune --runs` ([formats.md](formats.md)): predictions for
  other plans of the job are then off by 2 to 4 % ([own runs](accuracy/own_runs.md)).

- [accuracy/poorly_known.md](accuracy/poorly_known.md) lists poorly predicted effects, and
  measurements that would help.

"""

APPENDICES = (
    (
        ["left_out"],
        "runs fitted, and left out by source, framework, generation and kind; choices; intervals",
    ),
    (
        ["unseen_tables"],
        "errors of tables before any of their runs took part in a fit",
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

# Effects, what is known of each, and the measurement that would tell.
POORLY_KNOWN = [
    (
        "torchtitan on Blackwell",
        (
            "torchao's nine steps on B200, predicted 45.6 % too fast, take a third of a second "
            "more than predicted in bf16, float8 and MXFP8; its matrix products and its steps on "
            "H100 agree. Another B200 ran one of these steps in 0.67 s instead of 0.99 s "
            "(torchtitan's pull request 1196)"
        ),
        "a trace of one step on a B200, and `nvidia-smi` with its limit and clocks",
    ),
    (
        "MoE models outside of tuned recipes",
        (
            "ms-swift's ZeRO-3 is predicted 29 % too fast, NVIDIA's recipes right; load of experts "
            "and network are not stated"
        ),
        "tokens per expert, a trace of one step, `nccl-tests` between the nodes",
    ),
    (
        "choices among plans of MoE models",
        (
            "only one published group of plans can be judged: five ways to recompute Moonlight-16B "
            "on eight H100, whose fastest is chosen (tau 0.80, source left out)"
        ),
        "one MoE model with plans of different expert and pipeline degrees on one cluster",
    ),
    (
        "small layers in fp32 on GH200",
        (
            "Sailor's OPT-350M on GH200 is predicted 32 % too fast, its GPT-Neo 11 %, as if each "
            "micro-batch took 40 ms beside the time that grows with its rows"
        ),
        "a trace of one micro-batch on one and on four ranks",
    ),
    (
        "context degrees of four and eight",
        (
            "torchtitan's two runs of 131,072 and 262,144 tokens are predicted 34 and 38 % too "
            "fast, runs with context degree one and two 10 %"
        ),
        "a trace of one layer on eight ranks",
    ),
    (
        "host waits of pipelines over several nodes",
        (
            "only nanotron's runs, most on a network in a bad state, show how long hosts wait; "
            "constants of other frameworks stay near the prior"
        ),
        "one plan with pipeline inside a node and one across nodes, small micro-batches",
    ),
    (
        "gradients over many nodes",
        (
            "how much slower large groups are (`crowding`) depends on the network's state: about 0 "
            "on sampled networks, 0.6 to 0.8 on AWS p5 in a bad month, on which replicated "
            "optimizers are predicted 10 to 40 % too fast even with `cluster.all_reduce`"
        ),
        "`nccl-tests` from 1 MB to 1 GB on a half and on all of the nodes, when the job starts",
    ),
    (
        "the network of arXiv 2311.05610",
        (
            "the article does not state the NICs of a node; with eight and its source left out, "
            "its gradient messages take 2.7 times as long as predicted"
        ),
        "the authors' word, or `nccl-tests` on their cluster",
    ),
    (
        "parameters by broadcasts",
        (
            "InternEvo's runs on 512 and 1,024 devices, with optimizer states over all devices and "
            "parameters broadcast from their owners, are predicted 7 to 17 % too fast"
        ),
        "a trace of the end of a step",
    ),
    (
        "tensor groups over two nodes",
        "16 plans with 16 and 32 tensor ranks are predicted 13 % too fast (median)",
        "`nccl-tests` with small messages on two nodes",
    ),
    (
        "layers of gpt-oss",
        (
            "clamped activations and attention sinks are priced as fused kernels of other models: "
            "18 runs are predicted 13 % too fast in the median, on H100 2 % too slow"
        ),
        "samples of one layer on Blackwell",
    ),
    (
        "time between steps",
        "fitted as 13 ms in the middle, 1 to 32 ms by framework; loggers, data loaders and "
        "barriers are not modelled",
        "a trace over two steps",
    ),
    (
        "host time of MoE layers",
        "one constant per framework, even if the host waits for a router's counts",
        "a profiler trace of a step with one micro-batch",
    ),
    (
        "larger tensor degrees",
        (
            "of plans that differ only in the tensor degree, the larger degree is predicted 16 % "
            "(nanotron, left out) and 5 % (arXiv 2311.05610) too fast against the smaller"
        ),
        "a layer traced at tensor 1, 2, 4 and 8, with a pipeline and without",
    ),
    (
        "FlashAttention-1 and Triton kernels",
        "their rates are shares of the rates of other kernels, from papers",
        "attention samples for `stepwright fit`",
    ),
    (
        "fp8 and narrower products",
        "speed-ups come from published runs, and casts are counted separately",
        "GEMM samples in fp8, mxfp8, nvfp4",
    ),
    (
        "permutation and uneven groups of experts",
        "predicted by formulas of other operators",
        "samples of both",
    ),
    (
        "Blackwell Ultra in a run",
        "rates are a prior from power and datasheets",
        "one dense and one MoE run",
    ),
    (
        "networks with few samples",
        "predictions use documented defaults, and notes say `unfitted`",
        "`nccl-tests` on two and more nodes, for `stepwright fit`",
    ),
    (
        "memory outside of tensors",
        "three fitted margins per framework stand for it",
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
            f"Step times of the {found['used']} runs in `data/training_runs.csv` with all settings "
            f"known are predicted {percent(found['median_abs_error'])} % off in\nthe median, "
            f"{percent(found['mean_abs_error'])} % in the mean (`stepwright validate FILE --tier "
            "A`).\n"
            f"Step times of the {second['used']} runs in `data/training_runs_2.csv`, some below "
            f"10 % utilisation, are predicted {percent(second['median_abs_error'])} % off in\nthe "
            f"median, {percent(second['mean_abs_error'])} % in the mean.\n",
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
            "Memory peaks of published runs in `data/memory.csv` (allocated, reserved or used) are "
            f"predicted {percent(found['median_abs_error'])} % off in the median,\n"
            f"{percent(found['mean_abs_error'])} % in the mean; the memory margins of frameworks "
            "were fitted to these peaks.\n",
            f"Whether a run fits in memory is predicted rightly for {labels['right']} runs, "
            f"wrongly for {labels['wrong']} ({labels['fits_called_oom']} runs that fitted are\n"
            f"predicted to run out of memory, {labels['oom_called_fits']} the reverse). If the "
            "predicted peak is more than 5 % "
            f"away from the capacity, {labels['clear_right']} of {clear} predictions are right "
            f"({percent(labels['clear_right'] / clear)} %).\n",
            f"The {second['used']} memory peaks of `data/memory_2.csv`, to which no margin was "
            f"fitted, are predicted {percent(second['median_abs_error'])} % off in the median,\n"
            f"{percent(second['mean_abs_error'])} % in the mean.\n",
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
        f"`stepwright validate data/{table}.csv` predicts, for {found['used']} of {found['rows']} "
        f"launch commands, the bytes that PyTorch's allocator\ncounts on {rank}; nothing was "
        "fitted to these bytes. Each cell of the table has the median and p90 of\nerrors, and the "
        "shares of runs with errors below 5 and 10 %, in %.\n",
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
    return (
        "\n".join(lines) + "\n\nThe mean absolute errors of Stepwright's predictions in % are "
        f"{means}; those of the article's\nown predictions 4.98 and 9.38.\n"
    )


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
        f"# Configurations of arXiv 2509.22832\n\n{WRITTEN}\nNo constant was fitted to the "
        "configurations `data/configurations/*.yaml`. The article (arXiv 2509.22832)\ndoes not "
        "publish measured times: a measured time is derived as the published "
        "prediction over one plus\nits published error.\n\n" + configuration_table(command)
    )


def poorly_known() -> str:
    """What would improve the models."""
    lines = [
        "# Poorly known effects, and what to measure\n",
        "`stepwright fit --runs` calibrates predictions with your own runs "
        "([formats.md](../formats.md)).\n",
        "| effect | what is known | measurement that would help |\n|---|---|---|",
    ]
    return "\n".join([*lines, *(line_of(list(row)) for row in POORLY_KNOWN)]) + "\n"


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
        f"The table has errors of {summary['source']['used']} predicted step times. In each row "
        "but the first, runs were predicted by\nconstants fitted without these runs.\n\n"
    )
    once = (
        "\nA kind of runs is one framework on one GPU generation, dense or with experts, in 16 "
        "bits or "
        "fewer. Each of the\n"
        f"{even['places']} kinds was predicted by constants fitted without its runs: over kinds, "
        "the median "
        f"error is {percent(even['median_of_places'])} %.\n\n"
    )
    aside = (
        "No constant was fitted to the runs of the table of unseen stacks. After the first errors "
        "of these runs were\nknown, missing effects were added to the predictions, from public "
        "code.\n\n"
    )
    intervals = (
        "\nEvery predicted step time has an interval that should contain the measured time with a "
        "probability of 80 %; the\nless a job resembles measured runs, the wider is its interval "
        "([how wide](models.md#intervals-of-a-step)).\nWidths of intervals follow from errors of "
        "runs to which no constant was fitted\n([left_out.md](accuracy/left_out.md) compares "
        "intervals with measured steps).\n\n"
    )
    decided = (
        f"- {choices['groups']} groups of runs each measured several plans of one job. In "
        f"{choices['best_chosen']} of these groups, the plan that is predicted fastest\n  (by "
        "a fit without the group's source) is the fastest measured plan; in the mean, it is "
        f"{percent(choices['mean_regret'])} % slower than\n  the fastest measured plan.\n\n"
        "- Predicted memory peaks (allocated, reserved or used) are off by "
        f"{percent(peaks['median_abs_error'])} % in the median.\n"
        f"  Of {clear} runs with a predicted peak more than 5 % away from the capacity, "
        f"{percent(labels['clear_right'] / clear)} % are\n  rightly predicted to fit or to run out "
        "of memory.\n\n"
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

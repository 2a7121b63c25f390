"""Fills the tables of docs/comparisons.md: public estimators beside Stepwright, on the same jobs.

    tools/accuracy/comparisons.py --command build/release/stepwright --fits build/fits

llm-analysis is run here, on published runs that it can express. What SimuMax predicts is quoted
from its own documents. Stepwright's predictions are those of conditions that saw no row of the
source (`tools/accuracy/fit_conditions.py --fits`).
"""

import argparse
import csv
import json
import re
import statistics
import subprocess
import sys
import venv
from collections.abc import Iterable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from files import replace_text
from fit_conditions import judged

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/comparisons.md"
TABLES = ("data/training_runs.csv", "data/training_runs_2.csv")
SIMUMAX = ROOT / "data/peers/simumax_b200.csv"
HOME = ROOT / "build/comparisons"
LLM_ANALYSIS = "0.2.2"
# Devices of llm-analysis.
GPUS = {
    "A100-SXM-40GB": "a100-sxm-40gb",
    "A100-SXM-80GB": "a100-sxm-80gb",
    "A100-SXM4-80GB": "a100-sxm-80gb",
    "H100-SXM-80GB": "h100-sxm-80gb",
}
RECOMPUTE = {"none": "NONE", "full": "FULL", "selective": "SELECTIVE"}
UNGATED = ("gpt", "mpt", "bloom", "opt", "nemotron-4")
# Run with the package's own interpreter: jobs in, seconds or a reason out.
RUNNER = """
import json, logging, sys
logging.disable(logging.CRITICAL)
from llm_analysis.analysis import ActivationRecomputation, LLMAnalysis
from llm_analysis.config import (
    DtypeConfig, ModelConfig, ParallelismConfig, get_gpu_config_by_name)

answers = []
for job in json.load(sys.stdin):
    try:
        analysis = LLMAnalysis(
            ModelConfig(**job["model"]), get_gpu_config_by_name(job["gpu"]), DtypeConfig(),
            ParallelismConfig(**job["parallel"]), flops_efficiency=0.5,
            hbm_memory_efficiency=0.9)
        answer = analysis.training(
            activation_recomputation=ActivationRecomputation[job["recompute"]], **job["batch"])
        answers.append(answer["latency_per_iter"])
    except Exception as error:
        answers.append(f"{type(error).__name__}: {error}")
json.dump(answers, sys.stdout)
"""


def answered(command: str, *arguments: str) -> dict:
    """What the command says."""
    done = subprocess.run(
        [command, *arguments, "--json"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        sys.exit(f"{arguments}: {done.stderr}")
    return json.loads(done.stdout)


def published_runs() -> dict[str, dict[str, str]]:
    """Rows of tier A by id, those of a grid that tell of crashes left out."""
    rows = {}
    for table in TABLES:
        with (ROOT / table).open(encoding="utf-8") as file:
            rows |= {row["id"]: row for row in csv.DictReader(file) if judged(row)}
    return rows


def source_of(row: dict[str, str]) -> str:
    """Of which source a row is."""
    return row["id"].rsplit("-", 1)[0]


def predictions(command: str, fits: Path, rows: dict) -> dict[str, dict]:
    """`validate`'s results of tier A by id, each with conditions that saw no row of its source."""
    found = {}
    for source in sorted({source_of(row) for row in rows.values()}):
        conditions = fits / f"without_{source}.yaml"
        if not conditions.exists():
            continue
        table = HOME / f"{source}.csv"
        own = [row for row in rows.values() if source_of(row) == source]
        with table.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, own[0].keys())
            writer.writeheader()
            writer.writerows(own)
        answer = answered(
            command, "validate", str(table), "--tier", "A", "--conditions", str(conditions)
        )
        found |= {one["id"]: one for one in answer["results"]}
    return found


def job_of(row: dict[str, str]) -> dict | None:
    """A row as llm-analysis takes it; None: it cannot express it."""
    recompute = row["recompute"].split(" ")[0].strip(",;")
    sizes = ("layers", "heads", "hidden", "vocab", "ffn_hidden", "seq_len", "global_batch")
    if row["gpu"] not in GPUS or row["moe"] or recompute not in RECOMPUTE:
        return None
    if any(not row[key] for key in (*sizes, "micro_batch", "tp", "pp", "dp")):
        return None
    if row["precision"] not in ("bf16", "fp16") or row["cp"] not in ("", "1"):
        return None
    if int(row["global_batch"]) % (int(row["micro_batch"]) * int(row["dp"])) != 0:
        return None
    gated = not row["model"].lower().startswith(UNGATED)
    # It counts two products of the MLP, of whole multiples of the hidden size: three of a gated one
    # are as many FLOPs as two that are 1.5 times as wide.
    hidden = int(row["hidden"])
    width = int(row["ffn_hidden"]) * (1.5 if gated else 1)
    width = max(1, round(width / hidden)) * hidden
    return {
        "gpu": GPUS[row["gpu"]],
        "recompute": RECOMPUTE[recompute],
        "model": {
            "name": row["id"],
            "num_layers": int(row["layers"]),
            "n_head": int(row["heads"]),
            "hidden_dim": hidden,
            "vocab_size": int(row["vocab"]),
            "max_seq_len": int(row["seq_len"]),
            "ffn_embed_dim": width,
        },
        "parallel": {
            "tp_size": int(row["tp"]),
            "pp_size": int(row["pp"]),
            "dp_size": int(row["dp"]),
            "sp_size": int(row["tp"]) if row["sp"] == "y" else 1,
        },
        "batch": {
            "batch_size_per_gpu": int(row["micro_batch"]),
            "global_batch_size": int(row["global_batch"]),
            "seq_len": int(row["seq_len"]),
        },
    }


def run_llm_analysis(jobs: list[dict]) -> list:
    """Its seconds of a step for each job, or why it has none."""
    home = HOME / "llm-analysis"
    python = home / "bin/python"
    if not python.exists():
        venv.create(home, with_pip=True)
        packages = [f"llm-analysis=={LLM_ANALYSIS}", "fire"]
        subprocess.run([python, "-m", "pip", "install", "-q", "--no-deps", *packages], check=True)
        subprocess.run([python, "-m", "pip", "install", "-q", "termcolor"], check=True)
    done = subprocess.run(
        [python, "-c", RUNNER], input=json.dumps(jobs), capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)


def statistics_of(errors: Iterable[float]) -> list[str]:
    """Rows, median and mean of the size, nine of ten below, mean with sign."""
    errors = list(errors)
    sizes = sorted(abs(error) for error in errors)
    tenth = sizes[-(-9 * len(sizes) // 10) - 1]
    figures = (statistics.median(sizes), statistics.mean(sizes), tenth)
    signed = f"{100 * statistics.mean(errors):+.1f}"
    return [f"{len(sizes)}", *(f"{100 * figure:.1f}" for figure in figures), signed]


HEADER = "| of | tool | rows | median | mean | 90 % below | signed |\n|---|---|---|---|---|---|---|"


def table_row(*cells: str) -> str:
    return "| " + " | ".join(cells) + " |"


def llm_analysis_table(rows: dict, ours: dict) -> str:
    """llm-analysis on every run that both express."""
    chosen = [(one, job) for one in ours if (job := job_of(rows[one])) is not None]
    seconds = run_llm_analysis([job for _, job in chosen])
    both = [
        (one, answer / ours[one]["measured"] - 1, ours[one]["error"])
        for (one, _), answer in zip(chosen, seconds, strict=True)
        if isinstance(answer, float)
    ]
    lines = [HEADER]
    groups = {"all": lambda row: True}
    groups["A100"] = lambda row: row["gpu"].startswith("A100")
    groups["H100, the grid of nanotron"] = lambda row: source_of(row) == "playbook"
    groups["H100, all others"] = lambda row: (
        row["gpu"].startswith("H100") and source_of(row) != "playbook"
    )
    groups["one node"] = lambda row: row["gpus"] == row["gpus_per_node"]
    groups["several nodes"] = lambda row: row["gpus"] != row["gpus_per_node"]
    for name, inside in groups.items():
        kept = [entry for entry in both if inside(rows[entry[0]])]
        if not kept:
            continue
        lines.append(table_row(name, "llm-analysis", *statistics_of(e for _, e, _ in kept)))
        lines.append(table_row("", "Stepwright", *statistics_of(e for _, _, e in kept)))
    return "\n".join(lines)


def simumax_table(rows: dict, ours: dict, fitted: dict) -> str:
    """SimuMax's published predictions of its own runs beside ours."""
    with SIMUMAX.open(encoding="utf-8") as file:
        published = {row["case"]: row for row in csv.DictReader(file)}
    theirs, left, seen = [], [], []
    for one, row in rows.items():
        case = re.search(r"case (\S+);", row["source_note"])
        if case is None or case[1] not in published or one not in ours:
            continue
        theirs.append(
            float(published[case[1]]["predicted_ms"]) / float(published[case[1]]["measured_ms"]) - 1
        )
        left.append(ours[one]["error"])
        seen.append(fitted[one]["error"])
    lines = [
        HEADER,
        table_row("B200", "SimuMax, published", *statistics_of(theirs)),
        table_row("", "Stepwright, without any of these rows", *statistics_of(left)),
        table_row("", "Stepwright, fitted to these rows too", *statistics_of(seen)),
    ]
    return "\n".join(lines)


def main() -> int:
    """Fills the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--command", default="build/release/stepwright")
    parser.add_argument("--fits", type=Path, default=ROOT / "build/fits")
    given = parser.parse_args()
    command = str(Path(given.command).absolute())
    HOME.mkdir(parents=True, exist_ok=True)
    rows = published_runs()
    ours = predictions(command, given.fits.absolute(), rows)
    table = HOME / "simumax.csv"
    fitted = answered(command, "validate", str(table), "--tier", "A")["results"]
    tables = {
        "simumax": simumax_table(rows, ours, {one["id"]: one for one in fitted}),
        "llm-analysis": llm_analysis_table(rows, ours),
    }
    page = PAGE.read_text(encoding="utf-8")
    for name, text in tables.items():
        page = re.sub(
            rf"(<!-- table: {name} -->\n).*?(<!-- end -->)",
            lambda found, text=text: f"{found[1]}\n{text}\n\n{found[2]}",
            page,
            flags=re.DOTALL,
        )
    replace_text(PAGE, page)
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Turns what sample_tuning.py and sample_offload.py wrote into a table of runs and one of memory.

    python3 -B tools/data/tuning_rows.py NAME FILE.jsonl... -o FOLDER

Writes FOLDER/NAME.csv and FOLDER/NAME_memory.csv in the words of jobs and plans, as `stepwright
validate` reads them. NAME is also that of the source, as in own_tuning_h100.
"""

import argparse
import csv
import json
import sys
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from files import replaced
from sample_runs import MEMORY, RUNS, Run, sizes

JOB = ["job", "plan", "no_plan"]
PARTS = {"all": "all", "attention": "[qkv, projection]"}
CLUSTERS = {"H100-SXM-80GB": "dgx-h100", "H200-SXM-141GB": "dgx-h200"}


def histogram(lengths: list[int]) -> str:
    return ", ".join(f"[{length}, {count}]" for length, count in sorted(Counter(lengths).items()))


def job(line: dict) -> str:
    """What the rows of a run share, in the words of a job."""
    # Without documents PyTorch 2.11 takes cuDNN's attention first on Hopper; varlen_attn is
    # FlashAttention-2.
    attention = "flash2" if line.get("lengths") else "cudnn"
    words = [
        f"cluster: {{profile: {CLUSTERS[line['gpu']]}}}",
        "framework: fsdp",
        "precision: bf16",
        # sample_runs.py: the model gives the loss alone, nobody holds its logits.
        f"kernels: {{attention: {attention}, gathered_logits: false, plain_loss: true}}",
    ]
    if line.get("rank"):
        targets = PARTS[line["parts"]]
        words.append(f"adapters: {{rank: {line['rank']}, targets: {targets}, joined: true}}")
    if len(line.get("lengths", [])) > 1:
        words.append(
            f"batch: {{lengths: {{histogram: [{histogram(line['lengths'])}]}}, "
            "packing: {kind: greedy, too_long: split}}"
        )
    return "{" + ", ".join(words) + "}"


def plan(line: dict, run: Run) -> str:
    words = ["sharding: GGG" if "on_host" in line else "sharding: NNN"]
    words.append(f"recompute: {'full' if run.recompute else 'none'}")
    if line.get("on_host"):
        words.append("offload: {optimizer: 1, parameters: true}")
    return "{" + ", ".join(words) + "}"


def notes(line: dict) -> str:
    if "on_host" in line:
        where = "CPUOffloadPolicy" if line["on_host"] else "parameters on the device"
        return f"eager; fp32 parameters; fully_shard by layer, {where}"
    return "eager; fp32 grad sums"


def row(name: str, number: int, line: dict) -> dict:
    run = Run(**line["run"])
    tool = "sample_offload.py" if "on_host" in line else "sample_tuning.py"
    said = [
        f"measured by this project with tools/data/{tool} on one GPU",
        f"{line['software']}",
        "eager",
        f"{line['steps']} steps, spread {line['spread']:.3f}, SM {line['clock']} MHz",
    ]
    if line.get("optimizer_s"):
        said.append(f"optimizer {line['optimizer_s']:.4f} s")
    if line.get("lengths"):
        said.append(f"documents of {' '.join(map(str, line['lengths']))} tokens")
    return {
        "id": f"{name}-{number:04}",
        "source_note": "; ".join(said),
        "year": 2026,
        "gpu": line["gpu"],
        "gpus": 1,
        "gpus_per_node": 8,
        "framework": f"{line['software'].split(' CUDA')[0]}, eager (stack as FSDP on one GPU)",
        "model": f"LLaMA-like {run.hidden}x{run.layers}{' [LoRA]' if line.get('rank') else ''}",
        "params_b": f"{line['parameters'] / 1e9:.4f}",
        **sizes(run),
        "zero_stage_or_fsdp": "fsdp" if "on_host" in line else "none",
        "overlap_notes": notes(line),
        "tier": "A",
        "job": job(line),
        "plan": plan(line, run),
    }


def write(path: Path, columns: list[str], rows: list[dict]) -> None:
    with replaced(path) as file:
        table = csv.DictWriter(file, columns, extrasaction="ignore", lineterminator="\n")
        table.writeheader()
        table.writerows(rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name")
    parser.add_argument("files", type=Path, nargs="+")
    parser.add_argument("-o", "--folder", type=Path, required=True)
    options = parser.parse_args()
    texts = [text for file in options.files for text in file.read_text("utf-8").splitlines()]
    lines = [json.loads(text) for text in texts]
    runs, memory = [], []
    for number, line in enumerate(lines, 1):
        said = row(options.name, number, line)
        peak = f"{line['allocated'] / 2**30:.3f}"
        timed = {"measured_metric": "iteration_time_s", "measured_value": f"{line['seconds']:.6g}"}
        runs.append({**said, **timed, "memory_gib": peak})
        if line.get("lengths"):
            continue  # the sampler repeats keys and values there, which no framework does
        held = {"memory_kind": "torch max_memory_allocated", "memory_value_gib": peak}
        memory.append({**said, **held, "peak": "allocated"})
    write(options.folder / f"{options.name}.csv", [*RUNS, *JOB, "flops"], runs)
    write(options.folder / f"{options.name}_memory.csv", [*MEMORY, *JOB, "peak", "peak_of"], memory)


if __name__ == "__main__":
    main()

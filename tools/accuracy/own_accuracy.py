"""Writes docs/accuracy/own_h100.md: predictions beside this project's own measurements of one GPU.

python3 -B tools/accuracy/own_accuracy.py [build/release/stepwright] >docs/accuracy/own_h100.md
"""

import csv
import json
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

DATA = Path(__file__).resolve().parents[2] / "data"
UPDATE_BYTES, UPDATE_RATE = 30, 2.63e12  # of data/power_h100.csv: what AdamW sustains


def validated(command: str, table: str, *options: str) -> list[dict]:
    """Results by row, with the row."""
    path = DATA / table
    done = subprocess.run(
        [command, "validate", str(path), "--json", *options],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        sys.exit(done.stderr)
    with path.open() as file:
        rows = list(csv.DictReader(file))
    by_id = {row.get("id") or str(line): row for line, row in enumerate(rows, 2)}
    return [{**each, "row": by_id[each["id"]]} for each in json.loads(done.stdout)["results"]]


def line(name: str, errors: Iterable[float]) -> str:
    values = list(errors)
    if not values:
        return f"| {name} | 0 | | | |"
    size = sorted(abs(e) for e in values)
    return (
        f"| {name} | {len(values)} | {100 * statistics.median(size):.1f} | "
        f"{100 * statistics.median(values):+.1f} | {100 * size[int(0.9 * (len(size) - 1))]:.1f} |"
    )


def table(title: str, results: list[dict], groups: dict[str, Callable[[dict], bool]]) -> None:
    print(f"\n| {title} | n | median | signed median | p90 |\n|---|---|---|---|---|")
    for name, is_in in groups.items():
        print(line(name, (r["error"] for r in results if is_in(r))))


def by(results: list[dict], key: Callable[[dict], str]) -> dict[str, Callable[[dict], bool]]:
    return {k: lambda r, k=k: key(r) == k for k in sorted({key(r) for r in results})}


def number(result: dict, column: str) -> float:
    return float(result["row"][column])


def with_measured_update(result: dict) -> float:
    """The error if the update took what it moves over what AdamW sustains here."""
    update_s = number(result, "params_b") * 1e9 * UPDATE_BYTES / UPDATE_RATE
    predicted = result["predicted"] - result["terms"]["optimizer"] + update_s
    return predicted / result["measured"] - 1


def runs(command: str) -> None:
    results = validated(command, "own_runs_h100.csv")
    print("\n## Training runs\n\n`stepwright validate data/own_runs_h100.csv`")
    eager = [r for r in results if "eager" in r["row"]["overlap_notes"]]
    compiled = [r for r in results if r not in eager]
    groups = {"all": lambda r: True, "eager": lambda r: r in eager}
    groups["compiled"] = lambda r: r in compiled
    for h in (1024, 2048, 4096):
        groups[f"eager, hidden {h}"] = lambda r, h=h: r in eager and number(r, "hidden") == h
    groups["eager, full recomputation"] = lambda r: r in eager and r["row"]["recompute"] == "full"
    groups["eager, four micro-batches"] = lambda r: (
        r in eager and number(r, "global_batch") > number(r, "micro_batch")
    )
    groups["eager, measured under 50 ms"] = lambda r: r in eager and r["measured"] < 0.05
    groups["eager, measured over 100 ms"] = lambda r: r in eager and r["measured"] > 0.1
    table("step time", results, groups)
    corrected = [{**r, "error": with_measured_update(r), "id": r["id"]} for r in results]
    is_eager = lambda r: "eager" in r["row"]["overlap_notes"]  # noqa: E731
    share = statistics.median(r["terms"]["optimizer"] / r["measured"] for r in results)
    print(
        f"\nThe predicted optimizer update alone is {100 * share:.0f} % of the measured step in "
        f"the median. The table has errors of steps\nif the update is predicted as {UPDATE_BYTES} "
        f"bytes a parameter at {UPDATE_RATE / 1e12} TB/s, the rate that AdamW sustains here:"
    )
    groups = {"all": lambda r: True, "eager": is_eager, "compiled": lambda r: not is_eager(r)}
    table("step time", corrected, groups)


def memory(command: str) -> None:
    results = validated(command, "own_memory_h100.csv")
    results = [r for r in results if "error" in r and r["row"]["memory_value_gib"]]
    print("\n## Memory\n\n`stepwright validate data/own_memory_h100.csv`")
    groups = {}
    for kind in ("allocated", "reserved", "used"):
        for how in ("eager", "compile"):
            groups[f"{kind}, {how}"] = lambda r, k=kind, how=how: (
                k in r["row"]["id"] and how in r["row"]["overlap_notes"]
            )
    table("peak", results, groups)


def kernels(command: str) -> None:
    results = validated(command, "operators/h100_sxm_80g_kernels.csv")
    print("\n## Kernels by shape\n\n`stepwright validate data/operators/h100_sxm_80g_kernels.csv`")

    def name(r: dict) -> str:
        if r["operator"] == "gemm":
            m = int(number(r, "m"))
            return "product, rows " + ("under 1024" if m < 1024 else "from 1024")
        kernel = "flash2" if "FlashAttention-2" in r["row"]["software"] else "cudnn"
        return f"attention {kernel}, {r['direction']}"

    table("kernel", results, by(results, name))


def main() -> None:
    command = sys.argv[1] if len(sys.argv) > 1 else "build/release/stepwright"
    print("# One H100, measured by this project\n")
    print("Errors are `predicted / measured - 1` in %. Constants of training were fitted to step")
    print("times on this H100, the memory of a CUDA context to its nvidia-smi peaks; nothing else")
    print('was fitted to these measurements (`data/README.md`, "Measured here").')
    for part in (runs, memory, kernels):
        part(command)


if __name__ == "__main__":
    main()

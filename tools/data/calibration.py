"""Predicts the steps of plans from traces of others, on this machine (docs/logs.md).

python3 -B tools/data/calibration.py build/release/stepwright FOLDER [--rounds N] [--only REGEX]
        [--preload LIBRARY]

Trains small models over Gloo with the programs of `export --to fsdp`, two ranks of a core each,
with a trace of each rank. Then, by the commands alone: import, fit --plan, predict; prints how far
each prediction by each fit is from the middle step of the plan's own traces. Rounds go through all
plans, so that what else the machine does falls on all of them. Needs torch and transformers; the
ranks take precedence over other sessions where Linux lets them. --preload names an allocator that
keeps the memory of freed tensors, such as mimalloc: glibc gives that of some back to the kernel in
some steps and not in others. FOLDER keeps the traces: with --rounds 0 the table is made of those
that are there.
"""

import argparse
import contextlib
import gzip
import json
import os
import re
import socket
import statistics
import subprocess
import sys
from pathlib import Path

CLUSTER = Path(__file__).resolve().parents[2] / "examples" / "two-cores.yaml"
SMALL = "layers: 4, hidden: 512, heads: 8, ffn: 1376, vocab: 8000", 8
WIDE = "layers: 4, hidden: 768, heads: 12, ffn: 2048, vocab: 8000", 4
DEEP = "layers: 6, hidden: 384, heads: 6, ffn: 1024, vocab: 8000", 8
DATA = "parallel: {data: 2}"
TENSOR = "parallel: {tensor: 2}\noverlap: {tensor_gradients: false}"
PLANS = {
    "data": (SMALL, f"{DATA}\nsharding: NNN"),
    "data, wide": (WIDE, f"{DATA}\nsharding: NNN"),
    "data, deep": (DEEP, f"{DATA}\nsharding: NNN"),
    "tensor": (SMALL, TENSOR),
    "tensor, wide": (WIDE, TENSOR),
    "tensor, deep": (DEEP, TENSOR),
    "sharded": (SMALL, f"{DATA}\nsharding: GGG"),
    "sharded, wide": (WIDE, f"{DATA}\nsharding: GGG"),
}
# Gloo runs none of FSDP's messages beside computation, which `compare` remarks on.
SERIAL = ["--set", "overlap.gradients=false", "--set", "overlap.parameters=false"]


def plan_text(name: str) -> str:
    (model, sequences), choices = PLANS[name]
    micro_batch = 4 if "tensor" in choices else sequences // 2
    return f"""stepwright: plan/2
job:
  model: {{{model}}}
  cluster: {{profile: {CLUSTER}}}
  batch: {{sequences: {sequences}, length: 256}}
  precision: fp32
  framework: fsdp
{choices}
micro_batch: {micro_batch}
"""


def run(command: list, **options) -> str:
    done = subprocess.run(
        [str(word) for word in command], capture_output=True, text=True, check=False, **options
    )
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stderr}")
    return done.stdout


def train(stepwright: str, name: str, folder: Path, steps: int, preload: str) -> None:
    """One run of a plan, with the traces of both ranks in `folder`."""
    folder.mkdir(parents=True)
    (folder / "plan.yaml").write_text(plan_text(name))
    program = folder.parent / "train.py"
    run([stepwright, "export", "--to", "fsdp", "--plan", folder / "plan.yaml", "-o", program])
    words = [sys.executable, program, "--steps", str(steps), "--profile", folder]
    with socket.socket() as probe:
        probe.bind(("localhost", 0))
        port = probe.getsockname()[1]
    shared = {"WORLD_SIZE": "2", "MASTER_ADDR": "localhost", "MASTER_PORT": str(port)}
    shared |= {"OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"}
    if preload:
        shared |= {"LD_PRELOAD": preload, "MIMALLOC_PURGE_DELAY": "-1"}
    with (folder / "output.txt").open("w") as output:
        ranks = [
            subprocess.Popen(
                words,
                env=os.environ | shared | {"RANK": str(rank), "LOCAL_RANK": str(rank)},
                stdout=output,
                stderr=output,
            )
            for rank in range(2)
        ]
        if any([rank.wait() for rank in ranks]):
            sys.exit((folder / "output.txt").read_text())


def traces(folder: Path) -> list[Path]:
    return sorted(folder.glob("round*/trace.*"))


def middle_step(folder: Path) -> float:
    """The median of all steps in the traces."""
    seconds = []
    for trace in traces(folder):
        with gzip.open(trace) as file:
            events = json.load(file)["traceEvents"]
        marks = [
            event["dur"] * 1e-6
            for event in events
            if event.get("cat") == "user_annotation" and event["name"].startswith("ProfilerStep#")
        ]
        seconds += marks[:-1]  # the last mark is closed at once
    return statistics.median(seconds)


def predicted(stepwright: str, folder: Path, profile: Path) -> float:
    command = [stepwright, "predict", folder / "mine.yaml", "--json", *SERIAL]
    answer = json.loads(run([*command, "--set", f"measured={profile}"]))
    return answer["step_time_s"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("stepwright")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=8)
    parser.add_argument("--only", default="")
    parser.add_argument("--preload", default="", metavar="LIBRARY")
    options = parser.parse_args()
    with contextlib.suppress(OSError):  # already the leader of its session
        os.setsid()
    with contextlib.suppress(OSError):
        Path("/proc/self/autogroup").write_text("-20")
    names = [name for name in PLANS if re.search(options.only, name)]
    folders = {name: options.folder.resolve() / name.replace(", ", "_") for name in names}
    for _ in range(options.rounds):
        for name, folder in folders.items():
            number = len(list(folder.glob("round*")))
            round_folder = folder / f"round{number}"
            train(options.stepwright, name, round_folder, options.steps, options.preload)
    for folder in folders.values():
        words = ["--from", "fsdp", folder / "train.py", "--cluster", CLUSTER]
        run([options.stepwright, "import", *words, "-o", folder / "mine.yaml"])
        words = [*traces(folder), "--plan", folder / "mine.yaml"]
        run([options.stepwright, "fit", *words, "-o", folder / "measured.json"])
    print("| plan | step, s |", " | ".join(f"by {name}" for name in names), "|")
    print("|---|---|", "---|" * len(names), sep="")
    for name, folder in folders.items():
        measured = middle_step(folder)
        errors = [
            predicted(options.stepwright, folder, other / "measured.json") / measured - 1
            for other in folders.values()
        ]
        print(f"| {name} | {measured:.2f} |", " | ".join(f"{100 * e:+.1f}" for e in errors), "|")


if __name__ == "__main__":
    main()

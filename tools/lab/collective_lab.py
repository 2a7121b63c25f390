"""Collectives in emulated clusters, measured and predicted (docs/collectives.md).

sudo python3 -B tools/lab/collective_lab.py build/release/stepwright [-o docs/collectives/lab.md]
     [--rows data/lab_collectives.csv] [--keep FOLDER] [--lab NAME] [--largest BYTES]

In each lab, in one run, every algorithm does the same collectives of all ranks, 64 KB to 64 MB.
Before that shorter messages of all shapes of groups are sampled, a profile is fitted to them, and
it predicts the run. Needs root and a quiet machine; takes about an hour.
"""

import argparse
import csv
import json
import statistics
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from files import replace_text

FOLDER = Path(__file__).resolve().parents[2] / "examples" / "emulation"
PYTHON = FOLDER.parent.parent / ".venv" / "bin" / "python"
RANKS, NODES = 16, 4
MEMBERS = RANKS // NODES
MBIT = 125e3
# Payload of a link of so many bits: TCP's headers, docs/emulation.md.
PAYLOAD = 0.993

# Name, file, bytes/s that leave a node in all, bytes/s of one rank's NIC, bytes/s of the bus.
LABS = {
    "shared": (FOLDER / "lab.yaml", 100 * MBIT, 100 * MBIT, 800 * MBIT),
    "rails": (FOLDER / "rails.yaml", 200 * MBIT, 50 * MBIT, 400 * MBIT),
    "saturated": (FOLDER / "saturated.yaml", 100 * MBIT, 25 * MBIT, 400 * MBIT),
}
TITLES = {
    "shared": "One NIC of 100 Mbit/s for a node, 800 Mbit/s inside",
    "rails": "A NIC of 50 Mbit/s for each rank, 400 Mbit/s inside",
    "saturated": "A NIC of 25 Mbit/s for each rank, 400 Mbit/s inside",
}
# Bytes up to which a lab is measured, where it takes long.
MOST = {"saturated": 16 << 20}
OURS = "ho-ring"
OTHERS = ("two-level", "ring", "gloo")
BAR_BYTES = 16 << 20
CHOICE_BYTES = 4 << 20
# Runs that the choice is made from, and as many more that it is judged on.
CHOICE_RUNS = 2

HEADER = "lab,operation,size_bytes,ho_ring_s,two_level_s,ring_s,gloo_s"
INTRODUCTION = """# Collectives in emulated clusters

`make collectives` measures all algorithms on sixteen ranks in three emulated clusters
([summary](../collectives.md#measured)). `data/lab_collectives.csv` has the seconds of all sizes
from 64 KB to 64 MB.
"""

Times = dict[tuple[str, str, int], float]


def run(call: list[str]) -> str:
    """Standard output of a command; ends the tool when it fails."""
    done = subprocess.run(call, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(call)}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}")
    return done.stdout


def passes(operation: str) -> int:
    """How often the buffer goes through: an all-reduce twice."""
    return 2 if operation == "all_reduce" else 1


def bound(lab: str, operation: str, size: int) -> float:
    """Least seconds of the lab's own links: bytes out of a node, and those on its one bus."""
    _, node, _, bus = LABS[lab]
    network = (NODES - 1) / NODES * size / node
    inside = (MEMBERS - 1) * size / bus
    return passes(operation) * max(network, inside) / PAYLOAD


def flat_ring(lab: str, operation: str, size: int) -> float:
    """Seconds of the bytes of a single ring, which leaves a node by one NIC."""
    return passes(operation) * (RANKS - 1) / RANKS * size / LABS[lab][2] / PAYLOAD


def measure(command: str, lab: str, table: Path, words: list[str]) -> None:
    """Samples collectives in a lab into a table."""
    program = [command, "sample", "collectives", *words, "-o", str(table)]
    run([command, "lab", "run", "--timeout", "3000", str(LABS[lab][0]), "--", *program])


def times_of(table: Path) -> Times:
    """Seconds by library, operation and bytes."""
    with table.open(encoding="utf-8") as file:
        return {
            (row["library"], row["operation"], int(row["payload_bytes"])): float(row["seconds"])
            for row in csv.DictReader(file)
        }


def size_text(size: int) -> str:
    """64 KB, 4 MB."""
    return f"{size >> 20} MB" if size >= 1 << 20 else f"{size >> 10} KB"


def rows_of(lab: str, times: Times) -> list[list[object]]:
    """Seconds of every algorithm at every size, a row for each operation and size."""
    return [
        [lab, operation, size, *(times[name, operation, size] for name in (OURS, *OTHERS))]
        for operation, size in sorted({key[1:] for key in times})
    ]


def judged(lab: str, times: Times) -> list[str]:
    """What the table says of HO-Ring, in sentences."""
    large = {key[1:]: own for key, own in times.items() if key[0] == OURS and key[2] >= BAR_BYTES}
    over = {key: own / bound(lab, *key) for key, own in large.items()}
    worst = max(over, key=lambda key: over[key])
    short = {
        key: times[("ring", *key)] / own * bound(lab, *key) / flat_ring(lab, *key)
        for key, own in large.items()
    }
    least = min(short, key=lambda key: short[key])
    slower = {
        key[1:]: own / min(times[(name, *key[1:])] for name in OTHERS)
        for key, own in times.items()
        if key[0] == OURS
    }
    most = max(slower, key=lambda key: slower[key])
    return [
        f"For messages of {size_text(BAR_BYTES)} and more, algorithm HO-Ring takes at most "
        f"{over[worst]:.2f} times the least possible time (worst: {worst[0]}, "
        f"{size_text(worst[1])}). HO-Ring takes at most {slower[most]:.2f} times as long as the "
        f"fastest other algorithm (worst: {most[0]}, {size_text(most[1])}). HO-Ring's possible "
        "speed-up over a single ring of all ranks follows from the bytes that both send over each "
        f"link; for messages of {size_text(BAR_BYTES)} and more, HO-Ring reaches at least "
        f"{100 * short[least]:.0f} % of this possible speed-up (worst: {least[0]}, "
        f"{size_text(least[1])}).",
    ]


def chosen(command: str, folder: Path, lab: str) -> list[str]:
    """What the chooser makes of runs of shorter messages, judged on the mean of as many others."""
    choices = folder / f"{lab}_choices.csv"
    runs = [folder / f"{lab}_choice_{i}.csv" for i in range(2 * CHOICE_RUNS)]
    for table in runs:
        if not table.exists():
            measure(command, lab, table, ["--world", "--largest", str(CHOICE_BYTES)])
    judges = [times_of(table) for table in runs[CHOICE_RUNS:]]
    times = {key: statistics.mean(judge[key] for judge in judges) for key in judges[0]}
    package = Path(command).parent / "python" / "stepwright_torch" / "package"
    call = [str(PYTHON), "-B", "-W", "ignore", "-m", "stepwright_torch.choose"]
    samples = [str(table) for table in runs[:CHOICE_RUNS]]
    run(["env", f"PYTHONPATH={package}", *call, *samples, "-o", str(choices)])
    with choices.open(encoding="utf-8") as file:
        rows = [
            (row["operation"], float(row["most_bytes"]), row["method"])
            for row in csv.DictReader(file)
            if (int(row["nodes"]), int(row["ranks_of_node"])) == (NODES, MEMBERS)
        ]
    slower = {}
    for operation, size in sorted({key[1:] for key in times}):
        fits = [row for row in rows if row[0] == operation and size <= row[1]]
        name = min(fits, key=lambda row: row[1])[2]
        best = min(times[(other, operation, size)] for other in (OURS, *OTHERS))
        slower[operation, size] = times[(name, operation, size)] / best
    most = max(slower, key=lambda key: slower[key])
    return [
        f"From {CHOICE_RUNS} measurements, the fastest algorithm was chosen for each message size "
        f"from 64 KB to {size_text(CHOICE_BYTES)}. In the mean of {CHOICE_RUNS} later "
        f"measurements, the chosen algorithm takes at most {slower[most]:.2f} times as long as the "
        f"fastest one (worst: {most[0]}, {size_text(most[1])}).",
    ]


def error_text(errors: dict) -> str:
    """One group of errors as a cell."""
    return f"{100 * errors['median_abs_error']:.1f} ({errors['used']})"


def predicted(command: str, folder: Path, lab: str, table: Path) -> list[str]:
    """Errors of a profile of shorter messages."""
    short, profile = folder / f"{lab}_short.csv", folder / f"{lab}_profile.json"
    if not short.exists():
        measure(command, lab, short, [])
    run([command, "fit", str(short), "-o", str(profile)])
    verdict = json.loads(
        run([command, "validate", str(table), "--profile", str(profile), "--json"])
    )
    errors = [abs(row["error"]) for row in verdict["results"]]
    by_library = ", ".join(
        f"{name} {error_text(found)}" for name, found in verdict["by_library"].items()
    )
    return [
        f"With constants fitted to messages of at most 0.2 s, {len(errors)} measured times of "
        f"collectives are predicted with a median error of "
        f"{100 * statistics.median(errors):.1f} %. Median error of each algorithm in %, and number "
        f"of times: {by_library}.",
    ]


def main() -> None:
    """Samples, predicts and reports."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("command")
    parser.add_argument("-o", "--output")
    parser.add_argument("--rows")
    parser.add_argument("--keep")
    parser.add_argument("--lab", choices=LABS)
    parser.add_argument("--largest", type=int, default=64 << 20)
    options = parser.parse_args()
    command = str(Path(options.command).resolve())
    text, rows = [INTRODUCTION], []
    with tempfile.TemporaryDirectory() as made:
        folder = Path(options.keep or made)
        folder.mkdir(exist_ok=True)
        for lab in [options.lab] if options.lab else LABS:
            table = folder / f"{lab}.csv"
            if not table.exists():
                largest = str(min(options.largest, MOST.get(lab, options.largest)))
                measure(command, lab, table, ["--world", "--largest", largest])
            times = times_of(table)
            rows += rows_of(lab, times)
            text += [f"## {TITLES[lab]}", "", *judged(lab, times)]
            text += ["", *predicted(command, folder, lab, table)]
            if lab not in MOST:
                text += ["", *chosen(command, folder, lab)]
            text += [""]
    report = "\n".join(
        line if "\n" in line else textwrap.fill(line, 150, break_on_hyphens=False) for line in text
    )
    if options.output:
        replace_text(options.output, report)
    if options.rows:
        lines = [HEADER, *(",".join(map(str, row)) for row in rows)]
        replace_text(options.rows, "\n".join(lines) + "\n")
    print(report)


if __name__ == "__main__":
    main()

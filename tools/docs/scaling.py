"""Writes docs/collectives/scaling.md and its pictures: how collectives scale to 16,384 GPUs.

    tools/docs/scaling.py --command build/release/stepwright

Runs `stepwright study collectives` on the machines below. Run it again (`make scaling`) after a
change of the schedules, of their closed forms or of the simulation.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from files import replace_text
from line_chart import Axis, Curve, line_chart

FOLDER = Path("docs/collectives")
SIZES = {"1 MiB": 2.0**20, "64 MiB": 2.0**26, "1 GiB": 2.0**30}
LARGEST = 2048
GPUS = 16384
# Rows of the table of the first machine; `stepwright study collectives` prints the rest.
FEW = (2, 16, 128, LARGEST)

# Key, title, what it is, and a profile or the text of a cluster file.
MACHINES = [
    (
        "dgx-h100",
        "DGX H100: a NIC per GPU",
        "`dgx-h100`",
        "dgx-h100",
    ),
    (
        "dgx-a100",
        "DGX A100: a NIC per GPU",
        "`dgx-a100-80g`",
        "dgx-a100-80g",
    ),
    (
        "dgx-a100-one-nic",
        "DGX A100 with one NIC a node",
        "`dgx-a100-80g` with `nics_per_node: 1, nic: 12.5e9` (a shared NIC of 100 Gb/s)",
        "name: dgx-a100-one-nic\nprofile: dgx-a100-80g\nnics_per_node: 1\nnic: 12.5e9\n",
    ),
    (
        "pcie-one-nic",
        "PCIe with one NIC a node",
        "`a100-pcie-8gpu` (a shared NIC of 200 Gb/s, no NVLink)",
        "a100-pcie-8gpu",
    ),
    (
        "balanced",
        "Balanced: PCIe with a NIC per GPU",
        "`a100-pcie-8gpu` with `nics_per_node: 8`",
        "name: balanced\nprofile: a100-pcie-8gpu\nnics_per_node: 8\n",
    ),
]

INTRODUCTION = """# How collectives scale, by simulation to 16,384 GPUs

`make scaling` writes this page on HO-Ring, a collective algorithm of this project. All times of
this page are **simulated** message by message (`collective/play.h`), or computed by a **closed
form** (a formula) if stated; none is measured.

## What is compared

All ranks of 1 to 2,048 nodes of eight GPUs take part in a collective, each schedule with the number
of chunks that a formula finds best. In addition to the schedules of
[collectives.md](../collectives.md), the tables have:

- **lower bound**: the time of the least bytes at line rate if ranks add, for N ranks on n nodes of
  m ranks and V bytes: the longer one of (n-1)/(nm) V out of a rank to other nodes and (N-1)/N V
  over both its links (an all-reduce twice that).

- **network adds** and **switches add**: an all-reduce in which switches add (SHARP between nodes;
  NVLS inside as well), an *assumed* best case in **closed form** (`collective/in_network.h`).

{assumed}

A "gain" is the time of the fastest other algorithm, which is named, over HO-Ring's time: above 1
HO-Ring is faster. `stepwright study collectives PROFILE --simulate 16384` prints the gains of
HO-Ring on a cluster.
"""

NOT_MODELLED = """## What this leaves out

- Not modelled are double binary trees and other logarithmic algorithms of libraries, which send the
  least bytes between nodes in O(log n) steps as rail-halving does.

- Not modelled are networks that block: below an oversubscribed level a ring keeps its rate,
  rail-halving does not.

- Not modelled is work of GPUs: channels share cores, sums and copies take memory bandwidth.
"""


def study(command: str, cluster: str, options: list[str]) -> dict:
    """What `stepwright study collectives --json` says."""
    with tempfile.TemporaryDirectory() as folder:
        if "\n" in cluster:
            path = Path(folder, "cluster.yaml")
            path.write_text("stepwright: cluster/1\n" + cluster, encoding="utf-8")
            cluster = str(path)
        done = subprocess.run(
            [command, "study", "collectives", cluster, "--json", *options],
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode != 0:
            sys.exit(f"{cluster}: {done.stderr}")
    return json.loads(done.stdout)


def seconds(schedule: dict) -> float:
    """Simulated where it was."""
    return schedule.get("simulated_s", schedule["closed_s"])


def times(point: dict) -> dict[str, float]:
    """Seconds of a point's schedules by name."""
    return {one["name"]: seconds(one) for one in point["schedules"]}


def find(found: dict, operation: str, size: str, nodes: int) -> dict:
    """One point of a study."""
    for point in found["points"]:
        key = (point["operation"], point["payload_bytes"], point["nodes"])
        if key == (operation, SIZES[size], nodes):
            return point
    raise KeyError(f"{operation} of {size} on {nodes} nodes")


def rival(point: dict) -> str:
    """The fastest schedule that is no HO-Ring."""
    others = {name: s for name, s in times(point).items() if name != "ho-ring"}
    return min(others, key=others.__getitem__)


def ratio(value: float) -> str:
    """Three significant digits, as 1.30 and 0.026."""
    return f"{value:.2f}" if value >= 0.1 else f"{value:.3f}"


def time_text(value: float) -> str:
    """Seconds for people."""
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if value >= 0.9995 * scale:
            return f"{value / scale:.3g} {unit}"
    return f"{value / 1e-6:.3g} µs"


def percent(value: float) -> str:
    """Of a fraction, two digits; what is below a hundredth of a percent is rounding."""
    return f"{100 * value:.2g}" if value >= 1e-4 else "< 0.01"


def gain(point: dict) -> str:
    """The gain and over whom."""
    return f"{ratio(point['ho_ring_gain'])} {rival(point)}"


def node_counts(found: dict) -> list[int]:
    """From two on, in order."""
    return sorted({point["nodes"] for point in found["points"]} - {1})


def ranges(numbers: list[int], among: list[int]) -> str:
    """Numbers of a list as runs of it: [2, 4, 8, 32] among powers of two is "2-8, 32"."""
    runs: list[list[int]] = []
    for number in numbers:
        before = among.index(number) - 1
        if runs and before >= 0 and runs[-1][-1] == among[before]:
            runs[-1].append(number)
        else:
            runs.append([number])
    return ", ".join(f"{run[0]:,}-{run[-1]:,}" if len(run) > 1 else f"{run[0]:,}" for run in runs)


def winning(found: dict, operation: str, size: str) -> str:
    """On which numbers of nodes the HO-Ring wins by 1 % and more, and by how much at most."""
    nodes = node_counts(found)
    points = {n: find(found, operation, size, n) for n in nodes}
    best = max(points.values(), key=lambda point: point["ho_ring_gain"])
    wins = [n for n in nodes if points[n]["ho_ring_gain"] >= 1.01]
    if not wins:
        return f"nowhere; most {gain(best)} at {best['nodes']:,}"
    return f"{ranges(wins, nodes)}; most {gain(best)} at {best['nodes']:,}"


def paragraph(text: str) -> str:
    """Words in lines; those of an item of a list below its first word."""
    indent = "  " if text.startswith("- ") else ""
    return textwrap.fill(
        " ".join(text.split()),
        100,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )


def introduction(found: dict) -> str:
    """What is compared, and what is assumed."""
    start, inside, network = (
        time_text(found[f"{name}_s"])
        for name in ("message_start", "inside_latency", "network_latency")
    )
    assumed = f"""The page assumes that a message takes {start} to start and arrives {inside}
        (inside a node) or {network} (between nodes) after its last byte has left (documented
        defaults, not measured); links run at line rate, each way by itself; all nodes hang on one
        switch that never blocks; sums and copies take no time."""
    return INTRODUCTION.format(assumed=paragraph(assumed))


def summary(studies: dict[str, dict]) -> str:
    """Where the HO-Ring wins, machine by machine."""
    lines = [
        "## Where the HO-Ring wins",
        "",
        "A cell first has the numbers of nodes on which HO-Ring is at least 1 % faster than every",
        "other schedule, then HO-Ring's largest gain, with the other schedule and the number of",
        "nodes.",
        "",
        "| machine | all-reduce 1 MiB | 64 MiB | 1 GiB | all-gather 1 GiB |",
        "|---|---|---|---|---|",
    ]
    for key, title, _, _ in MACHINES:
        found = studies[key]
        cells = [winning(found, "all_reduce", size) for size in SIZES]
        cells.append(winning(found, "all_gather", "1 GiB"))
        lines.append(f"| {title} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def over_ho_ring(point: dict, name: str) -> float:
    """How many times as long as the HO-Ring a schedule takes."""
    own = times(point)
    return own[name] / own["ho-ring"]


def wins(studies: dict[str, dict]) -> str:
    """Over whom, and by what."""
    point = find(studies["dgx-h100"], "all_reduce", "1 GiB", 16)
    ring, turns, rings = (over_ho_ring(point, name) for name in ("ring", "two-level", "rings"))
    two = over_ho_ring(find(studies["dgx-a100"], "all_reduce", "1 GiB", 2), "rings")
    many = over_ho_ring(find(studies["dgx-h100"], "all_reduce", "1 GiB", 128), "rings")
    return f"""**HO-Ring wins** where messages are large and links inside nodes are much faster than
        between them. On 16 nodes of DGX H100 an all-reduce of 1 GiB takes {ring:.1f} times as
        long by one ring, which leaves NICs idle, {turns:.2f} times by two levels in turn, and
        {rings:.2f} times by rings on all NICs, which send nearly the least bytes. Over rings on
        all NICs, HO-Ring gains more on two nodes ({two:.2f} on DGX A100), because rings send
        (N-1)/N of the buffer between nodes and HO-Ring only half of it. On 128 nodes of DGX H100,
        HO-Ring gains {many:.2f} over rings, because its messages make n-1 hops instead of N-1."""


def loses_to_steps(h100: dict) -> str:
    """Many nodes and short messages."""
    inside_messages = LARGEST * (h100["devices_per_node"] - 1)
    hops = (LARGEST - 1) * (h100["message_start_s"] + h100["network_latency_s"])
    starts = inside_messages * h100["message_start_s"]
    long, short = (find(h100, "all_gather", size, LARGEST) for size in ("1 GiB", "64 MiB"))
    own = [time_text(times(point)["ho-ring"]) for point in (long, short)]
    halved = [time_text(times(point)["rail-halving"]) for point in (long, short)]
    return f"""- *on many nodes, or with short messages.* On {LARGEST:,} nodes of DGX H100 an
        all-gather of 1 GiB, whose bytes alone take {time_text(long["least_s"])}, takes {own[0]} by
        HO-Ring and {halved[0]} by rail-halving; an all-gather of 64 MiB takes {own[1]} by HO-Ring
        and {halved[1]} by rail-halving. On {LARGEST:,} nodes HO-Ring needs {LARGEST - 1:,} hops
        between nodes ({time_text(hops)} of starts and latencies) and {inside_messages:,} messages
        of each rank inside its node ({time_text(starts)} of starts)."""


def loses_on_balance(balanced: dict) -> str:
    """A NIC as fast as the inside."""
    point = find(balanced, "all_reduce", "1 GiB", 2)
    rings = over_ho_ring(point, "rings")
    least = point["least_s"] / times(point)["ho-ring"]
    return f"""- *on balanced machines.* On two nodes whose NICs are nearly as fast as links
        inside, rings take {rings:.2f} of HO-Ring's time (1 GiB, all-reduce), and a schedule that
        sent more through the NICs could take {least:.2f} (lower bound)."""


def loses_on_shared_nics(shared: dict) -> str:
    """All rails of a node on one NIC."""
    saved = []
    for nodes in (2, 4, 8, 16):
        point = find(shared, "all_gather", "1 GiB", nodes)
        saved.append(f"{100 * (1 - 1 / over_ho_ring(point, 'ring')):.0f} %")
    point = find(shared, "all_gather", "1 GiB", 128)
    least = times(point)["ho-ring"] / point["least_s"]
    return f"""- *where all GPUs of a node share one NIC*, HO-Ring gains little on many nodes. On
        DGX A100 with one NIC a node, HO-Ring's all-reduce takes {least:.3f} of the lower bound on
        128 nodes, but its all-gather of 1 GiB takes {", ".join(saved)} less time than by one
        ring on 2, 4, 8 and 16 nodes (arXiv 2310.06003: 25 to 40 % for 1 GB on 16 to 128
        GPUs with 100 Gb/s between nodes)."""


def loses_to_switches(h100: dict) -> str:
    """Reductions in the network."""
    network, both = [], []
    for nodes in (16, LARGEST):
        point = find(h100, "all_reduce", "1 GiB", nodes)
        network.append(ratio(point["adding_network_s"] / times(point)["ho-ring"]))
        both.append(ratio(point["adding_switches_s"] / times(point)["ho-ring"]))
    return f"""- *where switches add.* If switches add, each byte leaves a NIC once instead of 2
        (n-1)/n times, and the time does not grow with the nodes. If switches between nodes
        add, an all-reduce of 1 GiB takes {network[0]} of HO-Ring's time on 16 nodes of DGX H100 and
        {network[1]} on {LARGEST:,}, with switches that add inside as well {both[0]} and
        {both[1]}."""


def reasons(studies: dict[str, dict]) -> str:
    """Why, with the figures of this run."""
    h100 = studies["dgx-h100"]
    loses = [
        loses_to_steps(h100),
        loses_on_balance(studies["balanced"]),
        loses_on_shared_nics(studies["dgx-a100-one-nic"]),
        loses_to_switches(h100),
    ]
    items = "\n\n".join(paragraph(text) for text in loses)
    losing = "**HO-Ring is not the fastest algorithm in these cases:**"
    return f"## Why\n\n{paragraph(wins(studies))}\n\n{losing}\n\n{items}\n"


def machine(key: str, title: str, text: str, found: dict, rows: Sequence[int]) -> str:
    """One machine: a table of these numbers of nodes, none without any, and pictures."""
    inside, rail = found["inside_bytes_per_s"], found["rail_bytes_per_s"]
    lines = [
        f"## {title}",
        "",
        paragraph(
            f"Inside a node of {text}, links carry {inside / 1e9:.4g} GB/s,"
            f" {inside / rail:.3g} times a GPU's share of the NICs ({rail / 1e9:.4g} GB/s)."
        ),
    ]
    if rows:
        lines += [
            "",
            "The table has HO-Ring's gains, its time for an all-reduce of 1 GiB, and the times of",
            "other schedules divided by HO-Ring's time.",
            "",
            "| nodes | GPUs | all-reduce 1 MiB | 64 MiB | 1 GiB | all-gather 1 GiB |"
            " reduce-scatter 1 GiB | HO-Ring | one ring | lower bound | network adds |"
            " switches add |",
            "|---:|---:|---|---|---|---|---|---:|---:|---:|---:|---:|",
        ]
    for nodes in rows:
        points = [find(found, "all_reduce", size, nodes) for size in SIZES]
        points += [find(found, op, "1 GiB", nodes) for op in ("all_gather", "reduce_scatter")]
        large = points[2]
        own = times(large)["ho-ring"]
        others = [times(large)["ring"]]
        others += [large[name] for name in ("least_s", "adding_network_s", "adding_switches_s")]
        cells = [f"{nodes:,}", f"{large['ranks']:,}", *(gain(point) for point in points)]
        cells += [time_text(own), *(ratio(other / own) for other in others)]
        lines.append("| " + " | ".join(cells) + " |")
    lines += [
        "",
        f"![all-reduce of 1 GiB, {key}](scaling/{key}_1_gib.svg)",
        f"![all-reduce of 64 MiB, {key}](scaling/{key}_64_mib.svg)",
    ]
    return "\n".join(lines) + "\n"


def machines(studies: dict[str, dict]) -> list[str]:
    """The first with a few rows, the others without."""
    first = MACHINES[0][0]
    return [
        machine(key, title, text, studies[key], FEW if key == first else ())
        for key, title, text, _ in MACHINES
    ]


def curves(points: list[dict]) -> list[Curve]:
    """Seconds over ranks of each schedule and, dashed, of what is no schedule."""
    names = [one["name"] for one in max(points, key=lambda p: len(p["schedules"]))["schedules"]]
    found = [
        Curve(name, [(p["ranks"], times(p)[name]) for p in points if name in times(p)])
        for name in names
    ]
    for name, key in (
        ("lower bound", "least_s"),
        ("network adds", "adding_network_s"),
        ("switches add", "adding_switches_s"),
    ):
        found.append(Curve(name, [(p["ranks"], p[key]) for p in points], dashed=True))
    return found


def write_pictures(key: str, found: dict) -> None:
    """Those of the all-reduce."""
    for size, size_bytes in (("64 MiB", "64.0 MiB"), ("1 GiB", "1.00 GiB")):
        points = [
            point
            for point in found["points"]
            if (point["operation"], point["payload_bytes"]) == ("all_reduce", SIZES[size])
        ]
        drawn = line_chart(
            f"all_reduce of {size_bytes}, {found['cluster']}",
            Axis("GPUs", lambda value: f"{round(value):,}"),
            Axis("time", time_text),
            curves(points),
        )
        name = f"{key}_{size.replace(' ', '_').lower()}.svg"
        replace_text(FOLDER / "scaling" / name, drawn)


def starts(command: str) -> str:
    """How much hangs on the start of a message."""
    nodes = (2, 16, 128, LARGEST)
    lines = [
        "## How much depends on the start of a message",
        "",
        "The table has gains of HO-Ring over the fastest other algorithm in an all-reduce on DGX",
        "H100, by formulas instead of simulation:",
        "",
        "| a message starts in | payload | " + " | ".join(f"{n:,} nodes" for n in nodes) + " |",
        "|---|---|" + "---|" * len(nodes),
    ]
    for start in (1e-7, 1e-6, 1e-5):
        options = ["--nodes", ",".join(map(str, nodes)), "--bytes", "64MiB,1GiB"]
        options += ["--operations", "all_reduce", "--message-start", str(start)]
        found = study(command, "dgx-h100", options)
        for size in ("64 MiB", "1 GiB"):
            cells = [gain(find(found, "all_reduce", size, n)) for n in nodes]
            lines.append(f"| {time_text(start)} | {size} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def largest_difference(one: dict, other: dict, name: str) -> float:
    """Between two studies of the same points."""
    pairs = zip(one["points"], other["points"], strict=True)
    both = [(times(a).get(name), times(b).get(name)) for a, b in pairs]
    return max(abs(a / b - 1) for a, b in both if a is not None and b)


def every_rank(command: str) -> str:
    """How far the simulation of one node is from that of all ranks."""
    halves = "direct,two-level,rail-halving,ho-ring"
    full = [
        ("32", "all_reduce,all_gather,reduce_scatter", f"ring,rings,halving-doubling,{halves}"),
        ("512", "all_gather", halves),
        ("1024", "all_gather", "ho-ring"),
    ]
    worst = 0.0
    for nodes, operations, schedules in full:
        options = ["--nodes", nodes, "--bytes", "64MiB", "--operations", operations]
        options += ["--schedules", schedules, "--simulate", str(GPUS)]
        one = study(command, "dgx-h100", options)
        every = study(command, "dgx-h100", [*options, "--every-rank"])
        found = (largest_difference(one, every, name) for name in schedules.split(","))
        worst = max(worst, *found)
    size = f"less than {percent(worst)[2:]}" if worst < 1e-4 else percent(worst)
    return paragraph(
        "Simulating one of several equal nodes (`simulate_generated_collective`) differs from"
        f" simulating every rank (`--every-rank`) by {size} % on 256 to 8,192 GPUs (DGX H100, 64"
        " MiB)."
    )


def checks(command: str, studies: dict[str, dict]) -> str:
    """Closed forms beside simulation, and one node beside all."""
    names = list(dict.fromkeys(name for found in studies.values() for name in found["differences"]))
    worst = {
        name: percent(max(found["differences"][name] for found in studies.values()))
        for name in names
    }
    said = paragraph(
        "Times of collectives by formula and by simulation differ by at most (in %, over all"
        f" machines, operations, payloads and numbers of nodes up to {GPUS:,} GPUs): "
        + ", ".join(f"{name} {most}" for name, most in worst.items())
        + ". The formula of `rings` leaves out that rings take turns on links inside a node."
    )
    return f"## Checked\n\n{said}\n\n{every_rank(command)}\n"


def main() -> int:
    """Writes the document and the pictures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--command", default="build/release/stepwright")
    parser.add_argument("--simulate", default=str(GPUS), help="largest group to simulate")
    given = parser.parse_args()
    (FOLDER / "scaling").mkdir(parents=True, exist_ok=True)
    studies = {}
    for key, _, _, cluster in MACHINES:
        options = ["--bytes", ",".join(s.replace(" ", "") for s in SIZES)]
        studies[key] = study(given.command, cluster, [*options, "--simulate", given.simulate])
        write_pictures(key, studies[key])
    parts = [
        introduction(studies["dgx-h100"]),
        summary(studies),
        reasons(studies),
        *machines(studies),
        starts(given.command),
        checks(given.command, studies),
        NOT_MODELLED,
    ]
    replace_text(FOLDER / "scaling.md", "\n".join(parts))
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""When each schedule of a pipeline wins: docs/schedules.md.

python3 tools/docs/schedule_tables.py [COMMAND] -o docs/schedules.md
"""

import argparse
import itertools
import json
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from files import printed_to

ROOT = Path(__file__).resolve().parents[2]

INTRODUCTION = """# When each schedule wins

Which pipeline schedule is fastest depends on two effects: a forward and a backward run together
([two strands](strands.md)) take less time than in turn, and a bubble leaves pipeline ranks idle.
Schedule `folded` runs the most forwards together with backwards, and has the bubble of 1F1B.
Schedule `dualpipev` runs fewer forwards together with backwards and has a small bubble; zero-bubble
schedules never run both together.

## Equal positions

`stepwright study schedules` simulates M micro-batches on P pipeline ranks without messages. On
every pipeline rank a forward takes F = 1, a backward B = 2 (half of it weight gradients), and both
together C. Each cell of the table of schedules has the fastest schedule that holds at most P
activations on every rank, as 1F1B does, and how many times faster than 1F1B this schedule is. After
a semicolon stands the fastest schedule with at most P + 1/2 activations, if it is another one. The
first column has the best schedule that never runs a forward beside a backward. One activation is
what one micro-batch keeps on a pipeline rank. Schedules `interleaved` and `paired` have 2 model
chunks a rank, or 4 if the cell says 4.
"""

FORWARD, BACKWARD, WEIGHT = 1.0, 2.0, 1.0
RATIOS = (1.0, 0.95, 0.9, 0.8, 0.7)
SIZES = [(p, rounds * p) for p in (4, 8) for rounds in (1, 2, 4, 8)]
# Activations that a position may hold beyond those of 1F1B.
MORE = (0.0, 0.5)

SHARES = """
## Shares of communication

`stepwright predict` ran llama-3.1-8b with P = 4 and llama-3-70b with P = 8 on nodes of eight GPUs:
sequences of 8,192 tokens, micro-batches of one, sequence parallelism, no recomputation, NNG, 80 GB
a GPU (`-`: needs more memory or micro-batches). Column "messages" has the share of 1F1B's step in
which ranks wait for tensor-parallel messages. Column "one strand" has the best schedule of 1f1b,
interleaved (2 chunks), zb-h1, zb-h2, zb-v, v-half, v-min and auto (2 chunks); the columns to its
right have schedules that run two micro-batches at once (paired: 2 chunks). Each cell has two speeds
relative to 1F1B with equally many layers a rank: with equally many layers, and with the best uneven
split (up to two layers fewer beside the embedding, three beside the head). An uneven split balances
the work of schedules `folded`, `dualpipev` and `stp`, which have embedding and head on one rank.
"""


def study(command: str, stages: int, micro_batches: int, ratio: float) -> dict[str, dict]:
    """Schedules of equal positions by name, those that run."""
    plays = {}
    for chunks in (2, 4):
        words = {
            "stages": stages,
            "micro-batches": micro_batches,
            "forward": FORWARD,
            "backward": BACKWARD,
            "weight": WEIGHT,
            "paired": ratio * (FORWARD + BACKWARD),
            "chunks": chunks,
        }
        call = [command, "study", "schedules", "--json"]
        for name, value in words.items():
            call += [f"--{name}", f"{value:g}"]
        answer = json.loads(subprocess.run(call, capture_output=True, text=True, check=True).stdout)
        for play in answer["schedules"]:
            if "refused" in play or play["schedule"] == "dualpipe":
                continue
            name = play["schedule"]
            if chunks > 2 and play["chunks"] == chunks:
                name += f" {chunks}"
            plays[name] = play
    return plays


def best(plays: dict[str, dict], limit: float) -> tuple[str, float]:
    """The shortest that holds no more, by name and time."""
    fitting = {
        name: play["makespan_s"]
        for name, play in plays.items()
        if max(play["peak_activations"]) <= limit + 1e-9
    }
    return min(fitting.items(), key=lambda entry: entry[1])


def equal_tables(command: str) -> None:
    """Prints who wins where all positions take as long."""
    played = {(p, m, ratio): study(command, p, m, ratio) for p, m in SIZES for ratio in RATIOS}
    print("| P | M | " + " | ".join(f"C = {ratio:g} (F + B)" for ratio in RATIOS) + " |")
    print("|---" * (2 + len(RATIOS)) + "|")
    for p, m in SIZES:
        cells = [str(p), str(m)]
        for ratio in RATIOS:
            plays = played[p, m, ratio]
            plain = plays["1f1b"]["makespan_s"]
            found = [best(plays, p + more) for more in MORE]
            each = [f"{name} {plain / seconds:.3f}" for name, seconds in found]
            cells.append("; ".join(dict.fromkeys(each)))
        print("| " + " | ".join(cells) + " |")


@dataclass(frozen=True)
class Setup:
    name: str
    model: str
    layers: int
    cluster: str
    nodes: int
    tensor: int
    pipeline: int
    data: int


SMALL, LARGE = ("llama-3.1-8b", 32), ("llama-3-70b", 80)
H100, H800 = "dgx-h100", "h800-8gpu"
SETUPS = [
    Setup("8B, H100, tensor 2", *SMALL, H100, nodes=1, tensor=2, pipeline=4, data=1),
    Setup("8B, H100, tensor 4", *SMALL, H100, nodes=2, tensor=4, pipeline=4, data=1),
    Setup("8B, H100, tensor 8", *SMALL, H100, nodes=4, tensor=8, pipeline=4, data=1),
    Setup("8B, H800, tensor 8", *SMALL, H800, nodes=4, tensor=8, pipeline=4, data=1),
    Setup("70B, H100, tensor 4", *LARGE, H100, nodes=8, tensor=4, pipeline=8, data=2),
    Setup("70B, H100, tensor 8", *LARGE, H100, nodes=8, tensor=8, pipeline=8, data=1),
    Setup("70B, H800, tensor 8", *LARGE, H800, nodes=8, tensor=8, pipeline=8, data=1),
]
ROUNDS = (2, 8)
STRAIGHT, TWICE, FOLDED = "straight", "twice", "folded"
# One strand, and pairs: schedule and how its chunks lie.
ALONE = {
    "1f1b": ("1f1b", STRAIGHT),
    "interleaved": ("{kind: interleaved, chunks: 2}", TWICE),
    "zb-h1": ("zb-h1", STRAIGHT),
    "zb-h2": ("zb-h2", STRAIGHT),
    "zb-v": ("zb-v", FOLDED),
    "v-half": ("v-half", FOLDED),
    "v-min": ("v-min", FOLDED),
    "auto": ("{kind: auto, chunks: 2}", FOLDED),
}
PAIRS = {
    "folded": ("{kind: folded, strands: 2}", FOLDED),
    "dualpipev": ("{kind: dualpipev, strands: 2}", FOLDED),
    "paired": ("{kind: paired, chunks: 2, strands: 2}", TWICE),
    "stp": ("{kind: stp, strands: 2}", FOLDED),
}


def splits(setup: Setup, placement: str) -> list[list[int]]:
    """Layers of each chunk: even, and with fewer where embedding and head lie."""
    chunks = setup.pipeline * (1 if placement == STRAIGHT else 2)
    even = [setup.layers // chunks] * chunks
    for i in range(setup.layers % chunks):
        even[i] += 1
    found = [even]
    for first, last in itertools.product(range(3), range(4)):
        if first + last == 0 or even[0] <= first or even[-1] <= last:
            continue
        # Neither the head's position gains layers nor the embedding's where it gave some.
        ends = {chunks - 1} | ({0} if first > 0 else set())
        others = [i for i in range(chunks) if not ends & set(together(i, setup, placement))]
        split = list(even)
        split[0] -= first
        split[-1] -= last
        for _ in range(first + last):
            loads = {i: sum(split[k] for k in together(i, setup, placement)) for i in others}
            split[min(others, key=lambda i: (loads[i], split[i], i))] += 1
        found.append(split)
    return found


def together(chunk: int, setup: Setup, placement: str) -> list[int]:
    """The chunks of a chunk's position."""
    stages = setup.pipeline
    return {
        STRAIGHT: [chunk],
        TWICE: [chunk % stages, chunk % stages + stages],
        FOLDED: [chunk, 2 * stages - 1 - chunk],
    }[placement]


class Predictor:
    """Asks for predictions of plans."""

    def __init__(self, command: str, folder: Path) -> None:
        self.command = command
        self.file = folder / "plan.yaml"

    def predicted(
        self, setup: Setup, micro_batches: int, schedule: str, split: list[int]
    ) -> dict | None:
        """What `predict` says; nothing where micro-batches are too few for the schedule."""
        self.file.write_text(
            f"""stepwright: plan/2
job:
  model: {setup.model}
  cluster: {{profile: {setup.cluster}, nodes: {setup.nodes}}}
  batch: {{sequences: {setup.data * micro_batches}, length: 8192}}
parallel: {{tensor: {setup.tensor}, pipeline: {setup.pipeline}, data: {setup.data}}}
sequence_parallel: true
schedule: {schedule}
layers: {split}
sharding: NNG
""",
            encoding="utf-8",
        )
        run = subprocess.run(
            [self.command, "predict", str(self.file), "--json"],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        if "dualpipe-needs-micro-batches" in run.stderr:
            return None
        if run.returncode not in (0, 1) or not run.stdout:
            raise SystemExit(f"{setup.name}, {schedule}: {run.stderr}")
        return json.loads(run.stdout)

    def seconds(self, setup: Setup, micro_batches: int, schedule: str, split: list[int]) -> float:
        """Of a step; infinite where it does not fit, or not run."""
        answer = self.predicted(setup, micro_batches, schedule, split)
        return answer["step_time_s"] if answer and answer["fits"] else float("inf")

    def even_and_best(self, setup: Setup, count: int, kind: tuple[str, str]) -> tuple[float, float]:
        """Seconds with even layers, and with the best split."""
        schedule, placement = kind
        times = [self.seconds(setup, count, schedule, s) for s in splits(setup, placement)]
        return times[0], min(times)


def gains(plain: float, times: tuple[float, float]) -> str:
    """How many times faster, even and best."""
    if min(times) == float("inf"):
        return "-"
    return " / ".join("-" if t == float("inf") else f"{plain / t:.3f}" for t in times)


def share_row(predictor: Predictor, setup: Setup, rounds: int) -> list[str]:
    """A line of the table of shares."""
    count = rounds * setup.pipeline
    first = predictor.predicted(setup, count, "1f1b", splits(setup, STRAIGHT)[0])
    plain = first["step_time_s"]
    share = first["breakdown"]["exposed"]["tensor_s"] / plain
    alone = {name: predictor.even_and_best(setup, count, kind) for name, kind in ALONE.items()}
    pairs = {name: predictor.even_and_best(setup, count, kind) for name, kind in PAIRS.items()}
    name = min(alone, key=lambda word: alone[word][1])
    winner = min(pairs | alone, key=lambda word: (pairs | alone)[word][1])
    cells = [setup.name, str(setup.pipeline), str(count), f"{100 * share:.0f}"]
    cells.append(f"{name} {gains(plain, alone[name])}")
    cells += [gains(plain, times) for times in pairs.values()]
    return [*cells, winner]


def share_table(command: str) -> None:
    """Prints who wins in plans of models."""
    print(SHARES)
    print("| plan | P | M | messages % | one strand | " + " | ".join(PAIRS) + " | wins |")
    print("|---" * (6 + len(PAIRS)) + "|")
    with tempfile.TemporaryDirectory() as folder:
        predictor = Predictor(command, Path(folder))
        for setup in SETUPS:
            for rounds in ROUNDS:
                print("| " + " | ".join(share_row(predictor, setup, rounds)) + " |", flush=True)


def print_page(command: str) -> None:
    """Prints the page."""
    print(INTRODUCTION)
    equal_tables(command)
    share_table(command)


def main() -> None:
    """Writes the page."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("command", nargs="?", default=str(ROOT / "build/release/stepwright"))
    parser.add_argument("-o", "--output", type=Path, help="else standard output")
    options = parser.parse_args()
    with printed_to(options.output):
        print_page(options.command)


if __name__ == "__main__":
    main()

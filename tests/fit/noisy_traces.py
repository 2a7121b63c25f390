"""Times of noise, and traces of the PyTorch profiler that hold them: for noise_test.py."""

import json
import math
import random
from collections.abc import Callable

SEEDS = range(3)
RANKS = 2
HIDDEN, FFN, VOCABULARY, LAYERS, ROWS = 32, 48, 250, 2, 32
PLAN = f"""stepwright: plan/2
job:
  model: {{layers: {LAYERS}, hidden: {HIDDEN}, heads: 4, ffn: {FFN}, vocab: {VOCABULARY}}}
  cluster: {{profile: dgx-h100, devices: {RANKS}}}
  batch: {{sequences: 4, length: 16}}
  precision: fp32
  framework: fsdp
parallel: {{data: {RANKS}}}
sharding: NNN
micro_batch: 2
"""
Noise = Callable[[float], object]


FIXED: dict[str, Noise] = {
    "quiet": lambda time: time,
    "one time for all": lambda time: 3.0,
    "larger is faster": lambda time: 1000 / time,
    "hardly any time": lambda time: 1e-9,
    "next to no time": lambda time: 1e-300,
    "nearly endless": lambda time: 1e300,
}
# What a machine may show that does other work: this must be fitted, not refused.
USUAL = ("quiet", "one time for all", "a busy machine", "a very busy machine", "outliers")
# No table may hold these as times; the profiler writes zeros where its timer is coarse.
UNREADABLE: dict[str, Noise] = {"zero": lambda time: 0, "negative": lambda time: -time}


def drawn(seed: int) -> dict[str, Noise]:
    """Random times in the place of a true one, by name; all are positive."""
    draw = random.Random(seed)
    return {
        f"a busy machine, {seed}": lambda time: time * math.exp(draw.gauss(0, 0.5)),
        f"a very busy machine, {seed}": lambda time: time * math.exp(draw.gauss(0, 2)),
        f"outliers, {seed}": lambda time: time * (1000 if draw.random() < 0.05 else 1),
        f"huge outliers, {seed}": lambda time: time * (1e12 if draw.random() < 0.05 else 1),
        f"any time for any size, {seed}": lambda time: draw.uniform(1, 100),
        f"any time of any magnitude, {seed}": lambda time: 10 ** draw.uniform(-3, 5),
    }


def drawn_unreadable(seed: int) -> dict[str, Noise]:
    """Random times of which some are zero or negative, by name."""
    draw = random.Random(seed)
    return {
        f"some zero, {seed}": lambda time: 0 if draw.random() < 0.3 else time,
        f"some negative, {seed}": lambda time: -time if draw.random() < 0.1 else time,
    }


def noises() -> dict[str, Noise]:
    """All noise that tables may hold, by name."""
    found = dict(FIXED)
    for seed in SEEDS:
        found |= drawn(seed)
    return found


def is_usual(name: str) -> bool:
    return name.split(",")[0] in USUAL


def noises_of_traces() -> dict[str, Noise]:
    """All noise that traces may hold, by name."""
    found = noises() | UNREADABLE
    for seed in SEEDS:
        found |= drawn_unreadable(seed)
    return found


class HostTrace:
    """What the PyTorch profiler would write of a rank that trains by PLAN, with other times."""

    def __init__(self, rank: int, noise: Noise) -> None:
        self.rank, self.noise = rank, noise
        self.events: list[dict] = []
        self.now_us = 1e6
        self.products = 0

    def add(self, category: str, name: str, start_us: float, length_us: object, **args) -> None:
        thread = 2 if name.startswith("gloo:") else 1
        words = {"ph": "X", "cat": category, "name": name, "pid": 1, "tid": thread}
        self.events.append({**words, "ts": start_us, "dur": length_us, "args": args})

    def operator(self, name: str, time_us: float, dims: list, sequence: int = -1) -> None:
        """An operator that takes a time and noise; the next one begins when it has ended."""
        length_us = self.noise(time_us)
        about = {"Input Dims": dims} | ({"Sequence number": sequence} if sequence >= 0 else {})
        self.add("cpu_op", name, self.now_us, length_us, **about)
        self.now_us += max(length_us, time_us) + 1

    def product(self, rows: int, inner: int, columns: int, sequence: int = -1) -> None:
        time_us = 10 + 2e-4 * rows * inner * columns
        self.operator("aten::mm", time_us, [[rows, inner], [inner, columns]], sequence)

    def layer_products(self) -> list[tuple[int, int]]:
        """Inner width and columns of the products of a forward, which no tensor rank cuts."""
        of_layer = [(HIDDEN, 3 * HIDDEN), (HIDDEN, HIDDEN), (HIDDEN, 2 * FFN), (FFN, HIDDEN)]
        return LAYERS * of_layer + [(HIDDEN, VOCABULARY)]

    def all_reduce(self, elements: int) -> None:
        time_us = 30 + 4e-3 * elements
        length_us = self.noise(time_us)
        types, dims = ["TensorList"], [[[elements]]]
        self.add(
            "cpu_op",
            "c10d::allreduce_",
            self.now_us,
            1,
            **{"Input type": types, "Input Dims": dims},
        )
        about = {"Input type": ["float"], "Input Dims": [[elements]]}
        self.add("user_annotation", "gloo:all_reduce", self.now_us + 1, length_us, **about)
        self.now_us += max(length_us, time_us) + 2

    def step(self, number: int) -> None:
        begin_us = self.now_us
        self.now_us += 5
        forward = []
        for inner, columns in self.layer_products():
            self.products += 1
            forward.append((self.products, inner, columns))
            self.operator("aten::mul", 5, [[2, ROWS // 2, HIDDEN], [HIDDEN]])
            self.product(ROWS, inner, columns, self.products)
        for sequence, inner, columns in reversed(forward):
            node_us = self.now_us
            self.now_us += 1
            self.product(ROWS, columns, inner)
            self.product(columns, ROWS, inner)
            node = "autograd::engine::evaluate_function: MmBackward0"
            length_us = self.now_us - node_us
            self.add("cpu_op", node, node_us, length_us, **{"Sequence number": sequence})
        for elements in (20_000, 400):
            self.all_reduce(elements)
        update_us = self.now_us
        self.operator("aten::addcmul_", 40, [[HIDDEN, HIDDEN]])
        length_us = self.now_us - update_us
        self.add("user_annotation", "Optimizer.step#AdamW.step", update_us, length_us)
        self.now_us += 3
        mark = f"ProfilerStep#{number}"
        self.add("user_annotation", mark, begin_us, self.now_us - begin_us)

    def document(self, steps: int) -> dict:
        """The trace; the profiler goes on for a while after its last step."""
        for number in range(steps):
            self.step(number)
        self.add("cpu_op", "aten::empty", self.now_us + 10, 1)
        group = {"pg_name": "0", "pg_size": RANKS, "ranks": list(range(RANKS))}
        job = {"backend": "gloo", "rank": self.rank, "world_size": RANKS}
        job |= {"pg_count": 1, "pg_config": [group]}
        return {"schemaVersion": 1, "distributedInfo": job, "traceEvents": self.events}


def traces(noise: Noise, steps: int = 4) -> list[dict]:
    """A trace of each rank."""
    return [HostTrace(rank, noise).document(steps) for rank in range(RANKS)]


def changed(change: Callable[[dict], None], name: str) -> list[dict]:
    """Quiet traces in which the events whose names begin so are changed."""
    found = traces(lambda time: time)
    for trace in found:
        for event in trace["traceEvents"]:
            if event["name"].startswith(name):
                change(event)
    return found


def beside_messages(alone: Noise, beside: Noise) -> list[dict]:
    """Quiet traces in which every second product of a shape runs beside a message; times of
    products as functions of their quiet ones."""
    found = traces(lambda time: time)
    for trace in found:
        runs: dict[str, int] = {}
        messages = []
        for event in [e for e in trace["traceEvents"] if e["name"] == "aten::mm"]:
            shape = json.dumps(event["args"]["Input Dims"])
            runs[shape] = runs.get(shape, 0) + 1
            event["dur"] = (beside if runs[shape] % 2 else alone)(event["dur"])
            if runs[shape] % 2:
                about = {"Input type": ["float"], "Input Dims": [[7]]}
                messages.append({**event, "cat": "user_annotation", "tid": 2, "args": about})
        trace["traceEvents"] += [{**message, "name": "gloo:all_reduce"} for message in messages]
    return found


def kernel_trace(noise: Noise) -> str:
    """What the profiler would write of products on a GPU, at 400 TFLOP/s but for the noise."""
    events: list[dict] = []
    for hidden in (1024, 1536, 2048, 2560, 3072, 4096, 5120):
        for rows in (2048, 4096, 6144, 8192):
            number = len(events)
            sizes = [[rows, hidden], [hidden, 4 * hidden]]
            length_us = noise(5 + 2e-8 * rows * hidden**2)
            about = {"External id": number, "Input Dims": sizes, "Input type": ["c10::Half"] * 2}
            event = {"ph": "X", "pid": 1, "tid": 1, "ts": 10 * number, "dur": 5, "args": about}
            events.append({**event, "cat": "cpu_op", "name": "aten::mm"})
            about = {"External id": number, "stream": 7, "correlation": number}
            event |= {"tid": 7, "ts": 1e6 * number, "dur": length_us, "args": about}
            events.append({**event, "cat": "kernel", "name": "gemm"})
    devices = [{"id": 0, "name": "NVIDIA H100 80GB HBM3"}]
    return json.dumps({"deviceProperties": devices, "traceEvents": events})

"""Runs kernels for seconds on end on one GPU: rates at first and sustained, power, clock, energy.

    python3 -B tools/data/sample_power.py OUT [SECONDS]

Writes OUT/power.csv, a row for each load, and OUT/power_series.csv, its course. Each load follows a
pause. Rates are those of the calls that the device finished in a span, by events; energy is the
device's own counter. `first` is the first 0.2 s, `steady` the second half.
Without a GPU: toy sizes.
Rows of a run that ends early stay beside the tables, in OUT/*.part-*.
"""

import csv
import sys
import time
from collections.abc import Callable
from pathlib import Path

import torch
import torch.nn.functional as F  # noqa: N812
from torch import nn
from torch.nn.attention import SDPBackend, sdpa_kernel

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from files import replaced
from gpu_timing import DEVICE, HAS_GPU, Nvml, Pool, Sampler, gpu_name, software

BF16, FP8 = torch.bfloat16, torch.float8_e4m3fn
FIRST_S, BATCH_S, PAUSE_S = 0.2, 0.02, 1.5
COLUMNS = [
    "gpu",
    "software",
    "load",
    "flops_per_call",
    "bytes_per_call",
    "seconds_first",
    "seconds_steady",
    "flops_first",
    "flops_steady",
    "bytes_per_s_first",
    "bytes_per_s_steady",
    "power_w_steady",
    "joules_per_call",
    "sm_mhz_first",
    "sm_mhz_steady",
    "throttle_reasons",
    "temperature_c",
    "power_limit_w",
    "idle_w",
]


class Load:
    """Work that is repeated, and what one call does."""

    def __init__(self, name: str, flops: float, moved: float, work: Callable[[], object]) -> None:
        self.name, self.flops, self.moved, self.work = name, flops, moved, work


class Layer(nn.Module):
    """A layer of a Llama."""

    def __init__(self, hidden: int, heads: int, ffn: int) -> None:
        super().__init__()
        options = {"bias": False, "device": DEVICE, "dtype": BF16}
        self.heads = heads
        self.qkv = nn.Linear(hidden, 3 * hidden, **options)
        self.out = nn.Linear(hidden, hidden, **options)
        self.up = nn.Linear(hidden, 2 * ffn, **options)
        self.down = nn.Linear(ffn, hidden, **options)
        self.norms = nn.ParameterList(torch.ones(hidden, device=DEVICE, dtype=BF16) for _ in "ab")

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, length, hidden = x.shape
        rows = self.qkv(F.rms_norm(x, (hidden,), self.norms[0]))
        q, k, v = rows.view(batch, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(y.transpose(1, 2).reshape(batch, length, hidden))
        gate, up = self.up(F.rms_norm(x, (hidden,), self.norms[1])).chunk(2, -1)
        return x + self.down(F.silu(gate) * up)


SCALE = 1 if HAS_GPU else 64


class Loads:
    """Makes loads on operands of one pool."""

    def __init__(self) -> None:
        self.pool = Pool(12 if HAS_GPU else 0.05)

    def product(self, m: int, n: int, k: int, narrow: bool = False, zeros: bool = False) -> Load:
        m, n, k = m // SCALE, n // SCALE, k // SCALE
        width = 1 if narrow else 2
        dtype = FP8 if narrow else BF16
        pairs = [
            (self.pool.take(m, k, dtype=dtype), self.pool.take(n, k, dtype=dtype)) for _ in range(3)
        ]
        if zeros:
            pairs = [(torch.zeros_like(x), torch.zeros_like(w)) for x, w in pairs]
        one = torch.ones((), device=DEVICE)
        state = {"turn": 0}

        def work() -> torch.Tensor:
            state["turn"] = (state["turn"] + 1) % 3
            x, w = pairs[state["turn"]]
            if narrow:
                return torch._scaled_mm(x, w.t(), one, one, out_dtype=BF16, use_fast_accum=True)
            return x @ w.t()

        name = f"{'fp8' if narrow else 'bf16'} product {m}x{n}x{k}{' of zeros' if zeros else ''}"
        return Load(name, 2.0 * m * n * k, width * (m * k + n * k) + 2.0 * m * n, work)

    def attention(self, length: int, backend: SDPBackend, backward: bool) -> Load:
        length //= SCALE
        heads, d, batch = 32, 128, max(1, 16384 // SCALE // length)
        q, k, v, g = (self.pool.take(batch, length, heads, d).transpose(1, 2) for _ in range(4))
        if backward:
            for each in (q, k, v):
                each.requires_grad_()

        def work() -> object:
            with sdpa_kernel(backend if HAS_GPU else SDPBackend.MATH):
                out = F.scaled_dot_product_attention(q, k, v, is_causal=True)
            return torch.autograd.grad(out, (q, k, v), g) if backward else out

        flops = 2.0 * batch * heads * length * (length + 1) * d * (3.5 if backward else 1)
        moved = 2.0 * batch * length * heads * d * (12 if backward else 4)
        how = "forward and backward" if backward else "forward"
        return Load(
            f"attention {backend.name.split('_')[0].lower()} {length} {how}", flops, moved, work
        )

    def memory(self, name: str, count: int, width: float, work: Callable) -> Load:
        count //= SCALE**2
        x = self.pool.take(count // 4096, 4096) if count >= 4096 else self.pool.take(1, 4096)
        y = torch.empty_like(x)
        return Load(name, 0.0, width * x.numel(), lambda: work(x, y))

    def layer(self, hidden: int, rows: int, train: bool) -> Load:
        hidden, rows = hidden // SCALE * (4 if SCALE > 1 else 1), rows // SCALE
        heads, ffn = max(1, hidden // 128), hidden * 7 // 2
        model = Layer(hidden, heads, ffn)
        length = min(rows, 4096)
        x = self.pool.take(rows // length, length, hidden)
        g = torch.ones_like(x)

        def work() -> object:
            if not train:
                with torch.no_grad():
                    return model(x)
            out = model(x)
            return torch.autograd.grad(out, list(model.parameters()), g)

        count = 4 * hidden**2 + 3 * hidden * ffn
        flops = (2.0 * count + 2.0 * length * hidden) * rows * (3 if train else 1)
        how = "forward and backward" if train else "forward"
        return Load(f"layer {hidden} of {rows} tokens {how}", flops, 0.0, work)

    def update(self) -> Load:
        count = 2**28 // SCALE**2
        states = [[torch.full((count,), 1e-3, device=DEVICE)] for _ in range(4)]
        steps = [torch.ones((), device=DEVICE)]

        def work() -> None:
            torch._fused_adamw_(
                *states, [], steps, lr=1e-6, beta1=0.9, beta2=0.95, weight_decay=0.1, eps=1e-8,
                amsgrad=False, maximize=False,
            )  # fmt: skip

        return Load("adamw", 0.0, 28.0 * count, work)


def loads() -> list[Load]:
    of = Loads()
    return [
        of.product(8192, 8192, 8192),
        of.product(16384, 16384, 16384),
        of.product(4096, 4096, 4096),
        of.product(8192, 4096, 14336),
        of.product(2048, 2048, 2048),
        of.product(512, 8192, 8192),
        of.product(8192, 8192, 8192, zeros=True),
        of.product(8192, 8192, 8192, narrow=True),
        of.attention(8192, SDPBackend.FLASH_ATTENTION, False),
        of.attention(8192, SDPBackend.CUDNN_ATTENTION, False),
        of.attention(8192, SDPBackend.CUDNN_ATTENTION, True),
        of.memory("copy", 2**30, 4, lambda x, y: y.copy_(x)),
        of.memory("norm", 2**28, 4, lambda x, y: F.rms_norm(x, x.shape[-1:])),
        of.memory("fill", 2**30, 2, lambda x, y: y.zero_()),
        of.update(),
        of.layer(4096, 16384, False),
        of.layer(4096, 16384, True),
        of.layer(2048, 4096, True),
    ]


class Course:
    """What happened while a load ran: ends of batches, on the host's clock."""

    def __init__(self) -> None:
        self.marks: list[tuple[float, int]] = []
        self.nvml_rows: list[tuple[float, float, int, int, float]] = []

    def rate(self, start: float, end: float) -> float:
        """Calls a second between two times."""
        inside = [mark for mark in self.marks if start <= mark[0] <= end]
        if len(inside) < 2:
            return float("nan")
        return (inside[-1][1] - inside[0][1]) / (inside[-1][0] - inside[0][0])

    def mean(self, column: int, start: float, end: float) -> float:
        values = [row[column] for row in self.nvml_rows if start <= row[0] <= end]
        return sum(values) / len(values) if values else float("nan")

    def joules(self, start: float, end: float) -> float:
        rows = [row for row in self.nvml_rows if start <= row[0] <= end]
        return (rows[-1][4] - rows[0][4]) / (rows[-1][0] - rows[0][0]) if len(rows) > 1 else 0.0


def run(load: Load, nvml: Nvml, seconds: float) -> Course:
    """Keeps two batches queued; a batch takes about BATCH_S."""
    course = Course()
    load.work()
    synchronize()
    start = time.perf_counter()
    load.work()
    synchronize()
    once = time.perf_counter() - start
    calls = max(1, round(BATCH_S / once))
    time.sleep(PAUSE_S if HAS_GPU else 0)
    sampler = Sampler(nvml)
    sampler.start()
    start = time.perf_counter()
    course.marks.append((start, 0))
    queued: list[tuple[object, int]] = []
    done = 0
    while time.perf_counter() - start < seconds:
        for _ in range(calls):
            load.work()
        done += calls
        event = torch.cuda.Event() if HAS_GPU else None
        if event is not None:
            event.record()
        queued.append((event, done))
        if len(queued) > 2:
            finish(queued.pop(0), course)
    while queued:
        finish(queued.pop(0), course)
    sampler.stop()
    course.nvml_rows = sampler.rows
    return course


def finish(batch: tuple, course: Course) -> None:
    event, done = batch
    if event is not None:
        event.synchronize()
    course.marks.append((time.perf_counter(), done))


def synchronize() -> None:
    if HAS_GPU:
        torch.cuda.synchronize()


def row(load: Load, course: Course, nvml: Nvml, idle_w: float, temperature: int) -> dict:
    start, end = course.marks[0][0], course.marks[-1][0]
    middle = (start + end) / 2
    first, steady = course.rate(start, start + FIRST_S), course.rate(middle, end)
    reasons = 0
    for each in course.nvml_rows:
        reasons |= each[3] if each[0] >= middle else 0
    watts = course.joules(middle, end)
    return {
        "gpu": gpu_name(),
        "software": software(),
        "load": load.name,
        "flops_per_call": f"{load.flops:.6g}",
        "bytes_per_call": f"{load.moved:.6g}",
        "seconds_first": f"{1 / first:.6g}",
        "seconds_steady": f"{1 / steady:.6g}",
        "flops_first": f"{load.flops * first:.5g}",
        "flops_steady": f"{load.flops * steady:.5g}",
        "bytes_per_s_first": f"{load.moved * first:.5g}",
        "bytes_per_s_steady": f"{load.moved * steady:.5g}",
        "power_w_steady": f"{watts:.1f}",
        "joules_per_call": f"{watts / steady:.6g}",
        "sm_mhz_first": f"{course.mean(2, start, start + FIRST_S):.0f}",
        "sm_mhz_steady": f"{course.mean(2, middle, end):.0f}",
        "throttle_reasons": f"{reasons:#x}",
        "temperature_c": temperature,
        "power_limit_w": f"{nvml.limit_w():.0f}",
        "idle_w": f"{idle_w:.1f}",
    }


def main() -> None:
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    folder = Path(sys.argv[1])
    seconds = float(sys.argv[2]) if len(sys.argv) > 2 else 10.0
    folder.mkdir(parents=True, exist_ok=True)
    nvml = Nvml()
    todo = loads()
    synchronize()
    time.sleep(2 if HAS_GPU else 0)
    idle_w = nvml.power_w()
    with (
        replaced(folder / "power.csv", keep_part=True) as table,
        replaced(folder / "power_series.csv", keep_part=True) as series,
    ):
        rows = csv.DictWriter(table, COLUMNS, lineterminator="\n")
        rows.writeheader()
        points = csv.writer(series, lineterminator="\n")
        points.writerow(["load", "seconds", "calls_per_s", "power_w", "sm_mhz"])
        for load in todo:
            try:
                course = run(load, nvml, seconds)
                result = row(load, course, nvml, idle_w, nvml.temperature_c())
            except Exception as error:
                print(f"{load.name}: {type(error).__name__}: {str(error)[:200]}", flush=True)
                continue
            rows.writerow(result)
            start, end = course.marks[0][0], course.marks[-1][0]
            at = start
            while at < end:
                span = (at, at + 0.25)
                values = (course.rate(*span), course.mean(1, *span), course.mean(2, *span))
                points.writerow([load.name, f"{at - start:.2f}", *(f"{v:.6g}" for v in values)])
                at += 0.25
            table.flush()
            series.flush()
            print(
                f"{load.name}: {float(result['flops_first']) / 1e12:.0f} to "
                f"{float(result['flops_steady']) / 1e12:.0f} TFLOP/s, "
                f"{float(result['bytes_per_s_steady']) / 1e12:.2f} TB/s, "
                f"{result['power_w_steady']} W, {result['sm_mhz_first']} to "
                f"{result['sm_mhz_steady']} MHz {result['throttle_reasons']}",
                flush=True,
            )


if __name__ == "__main__":
    main()

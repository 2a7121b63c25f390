"""Times what trains beside plain attention and products on one GPU, and its host.

    python3 -B tools/data/sample_scans.py OUT [SECONDS]

Scans of Mamba-2 (mamba_ssm's Triton kernels), of gated delta nets and KDA (flash-linear-attention),
short convolutions, attention within packed documents (torch.nn.attention.varlen), products in fp8
with scales by tensor and by row (casts and scales included), Muon and AdamW, copies to and from the
host and AdamW there. Writes OUT/scans.csv with the columns of data/operators/other_gpus.csv; what
a machine lacks is left out and said. Without a GPU: nothing to time.
Rows of a run that ends early stay beside, in OUT/scans.csv.part-*.
"""

import csv
import math
import random
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from files import replaced
from gpu_samples.bench import BF16, BY_SHAPE
from gpu_timing import DEVICE, Nvml, gpu_name, software

NOTE = "measured by this project with tools/data/sample_scans.py"
WARM_UP, FEWEST, ENOUGH_S = 2, 5, 0.06


def timed(work: Callable[[], object]) -> tuple[float, float, int]:
    """Seconds of one call, the median; how far its tenths lie apart; repeats."""
    for _ in range(WARM_UP):
        work()
    torch.cuda.synchronize()
    seconds: list[float] = []
    while len(seconds) < FEWEST or (sum(seconds) < ENOUGH_S and len(seconds) < 40):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in "ab")
        begin.record()
        work()
        end.record()
        end.synchronize()
        seconds.append(begin.elapsed_time(end) / 1e3)
    seconds.sort()
    middle = statistics.median(seconds)
    spread = (seconds[(9 * len(seconds)) // 10] - seconds[len(seconds) // 10]) / middle
    return middle, spread, len(seconds)


class Table:
    def __init__(self, file: IO[str]) -> None:
        self.file = file
        self.writer = csv.DictWriter(self.file, BY_SHAPE, restval="", lineterminator="\n")
        self.writer.writeheader()
        self.nvml = Nvml()

    def add(self, op: str, timing: tuple[float, float, int], **cells: object) -> None:
        seconds, spread, count = timing
        about = {"source_note": NOTE, "year": 2026, "gpu": gpu_name(), "software": software()}
        extra = f"spread={spread:.4f};repeats={count};timed=events;sm_mhz={self.nvml.clock_mhz()}"
        value = f"{seconds * 1e6:.6g}"
        row = {
            **about,
            "op": op,
            "dtype": "bf16",
            "metric": "time_us",
            "value": value,
            "extra": extra,
        }
        self.writer.writerow({**row, **cells})
        self.file.flush()
        print(op, cells, value, "us", flush=True)

    def both(self, op: str, work: Callable, leaves: list[torch.Tensor], **cells: object) -> None:
        """The forward, and all gradients."""
        with torch.no_grad():
            self.add(op, timed(lambda: work(*leaves)), direction="forward", **cells)
        for leaf in leaves:
            if leaf.is_floating_point():
                leaf.requires_grad_()
        out = work(*leaves)
        needed = [leaf for leaf in leaves if leaf.requires_grad]
        given = torch.randn_like(out)
        backward = timed(lambda: torch.autograd.grad(out, needed, given, retain_graph=True))
        self.add(op, backward, direction="backward", **cells)


def normal(*shape: int, dtype: torch.dtype = BF16) -> torch.Tensor:
    return torch.randn(*shape, device=DEVICE, dtype=dtype)


def mamba2(table: Table, of: tuple[int, int, int, int, int, int, int]) -> None:
    from mamba_ssm.ops.triton.ssd_combined import mamba_chunk_scan_combined

    batch, length, heads, width, groups, state, chunk = of
    leaves = [
        normal(batch, length, heads, width),
        normal(batch, length, heads).abs() * 0.1,
        -torch.rand(heads, device=DEVICE) - 0.5,
        normal(batch, length, groups, state),
        normal(batch, length, groups, state),
        torch.rand(heads, device=DEVICE),
    ]

    def work(*given):
        x, dt, a, b, c, d = given
        return mamba_chunk_scan_combined(x, dt, a, b, c, chunk, D=d, dt_softplus=True)

    table.both(
        "scan_mamba2",
        work,
        leaves,
        batch=batch,
        seq_len=length,
        heads=heads,
        kv_heads=groups,
        head_dim=width,
        other_shape=f"state={state};chunk={chunk}",
    )


def delta(table: Table, of: tuple[int, int, int, int, str]) -> None:
    batch, length, heads, width, kind = of
    from fla.ops.gated_delta_rule import chunk_gated_delta_rule

    g = -torch.rand(batch, length, heads, device=DEVICE) * 0.1
    leaves = [normal(batch, length, heads, width) for _ in "qkv"]
    if kind == "kda":
        g = -torch.rand(batch, length, heads, width, device=DEVICE) * 0.1
    leaves += [g, torch.rand(batch, length, heads, device=DEVICE, dtype=BF16)]

    def gated(q, k, v, g, beta):
        return chunk_gated_delta_rule(q, k, v, g, beta, use_qk_l2norm_in_kernel=True)[0]

    def kda(q, k, v, g, beta):
        from fla.ops.kda import chunk_kda

        return chunk_kda(q, k, v, g, beta, use_qk_l2norm_in_kernel=True)[0]

    table.both(
        f"scan_{kind}",
        kda if kind == "kda" else gated,
        leaves,
        batch=batch,
        seq_len=length,
        heads=heads,
        kv_heads=heads,
        head_dim=width,
        other_shape="chunk=64",
    )


def convolution(table: Table, of: tuple[int, int, int]) -> None:
    from fla.modules.convolution import causal_conv1d

    batch, length, width = of
    leaves = [normal(batch, length, width), normal(width, 4)]

    def work(x, w):
        return causal_conv1d(x=x, weight=w, activation="silu")[0]

    table.both(
        "conv_short", work, leaves, batch=batch, seq_len=length, hidden=width, other_shape="taps=4"
    )


def documents(tokens: int, kind: str) -> list[int]:
    """Lengths that fill a pack."""
    draw = random.Random(7)
    lengths: list[int] = []
    while sum(lengths) < tokens:
        mean = {"short": 512, "long": 2048}.get(kind, 1024)
        size = mean if kind == "equal" else int(draw.lognormvariate(math.log(mean) - 0.5, 1.0)) + 1
        lengths.append(min(size, tokens - sum(lengths)))
    return lengths


def packed(table: Table, of: tuple[int, int, int, str]) -> None:
    from torch.nn.attention.varlen import varlen_attn

    tokens, heads, kv_heads, kind = of
    lengths = [tokens] if kind == "one" else documents(tokens, kind)
    starts = torch.tensor([0, *lengths], device=DEVICE).cumsum(0).to(torch.int32)
    leaves = [normal(tokens, n, 128) for n in (heads, kv_heads, kv_heads)]
    longest = max(lengths)

    def work(q, k, v):
        if kv_heads != heads:
            k = k.repeat_interleave(heads // kv_heads, 1)
            v = v.repeat_interleave(heads // kv_heads, 1)
        return varlen_attn(q, k, v, starts, starts, longest, longest, window_size=(-1, 0))

    squares = sum(n * n for n in lengths) / tokens
    shape = f"documents={len(lengths)};longest={longest};mean_square_over_tokens={squares:.1f}"
    table.both(
        "attention_packed",
        work,
        leaves,
        batch=1,
        seq_len=tokens,
        heads=heads,
        kv_heads=kv_heads,
        head_dim=128,
        causal="y",
        other_shape=shape,
    )


def narrow(table: Table, of: tuple[int, int, int, str]) -> None:
    m, n, k, scaling = of
    x, w = normal(m, k), normal(n, k)
    top, e4m3 = 448.0, torch.float8_e4m3fn

    def cast(t: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        if scaling == "row":
            scale = t.abs().amax(1, keepdim=True).float().clamp(min=1e-12) / top
        else:
            scale = t.abs().amax().float().clamp(min=1e-12) / top
        return (t.float() / scale).clamp(-top, top).to(e4m3), scale

    cast = torch.compile(cast)
    (a, sa), (b, sb) = cast(x), cast(w)
    sb = sb.t().contiguous() if scaling == "row" else sb

    def product():
        fast = scaling == "row"
        return torch._scaled_mm(
            a, b.t(), scale_a=sa, scale_b=sb, out_dtype=BF16, use_fast_accum=fast or True
        )

    sizes = {"m": m, "n": n, "k": k, "direction": "forward", "dtype": "fp8"}
    table.add(f"gemm_{scaling}wise", timed(product), **sizes)
    table.add(f"cast_{scaling}wise", timed(lambda: cast(x)), m=m, k=k, direction="forward")


def optimizers(table: Table, of: tuple[int, int, int]) -> None:
    rows, columns, count = of
    weights = [torch.nn.Parameter(normal(rows, columns)) for _ in range(count)]
    for w in weights:
        w.grad = normal(rows, columns)
    for name in ("Muon", "AdamW", "Adafactor"):
        options = {"fused": True} if name == "AdamW" else {}
        made = getattr(torch.optim, name)(weights, lr=1e-4, **options)
        table.add(
            f"update_{name.lower()}",
            timed(made.step),
            m=rows,
            n=columns,
            direction="forward",
            other_shape=f"matrices={count}",
        )


def host(table: Table, of: tuple[str, int]) -> None:
    kind, size = of
    here = torch.empty(size, dtype=torch.uint8, device=DEVICE)
    there = torch.empty(size, dtype=torch.uint8, pin_memory=True)
    back_here, back_there = (
        torch.empty_like(here),
        torch.empty(size, dtype=torch.uint8, pin_memory=True),
    )
    other = torch.cuda.Stream()

    def both_ways():
        other.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(other):
            back_there.copy_(back_here, non_blocking=True)
        here.copy_(there, non_blocking=True)
        torch.cuda.current_stream().wait_stream(other)

    work = {
        "to_host": lambda: there.copy_(here, non_blocking=True),
        "from_host": lambda: here.copy_(there, non_blocking=True),
        "both_ways": both_ways,
    }[kind]
    table.add(
        f"copy_{kind}", timed(work), dtype="uint8", direction="forward", other_shape=f"bytes={size}"
    )


def host_update(table: Table, of: tuple[int, int, int]) -> None:
    rows, count, threads = of
    torch.set_num_threads(threads)
    weights = [torch.nn.Parameter(torch.randn(rows)) for _ in range(count)]
    for w in weights:
        w.grad = torch.randn(rows)
    made = torch.optim.AdamW(weights, lr=1e-4, fused=True)
    made.step()
    seconds = []
    for _ in range(4):
        begin = time.perf_counter()
        made.step()
        seconds.append(time.perf_counter() - begin)
    timing = (statistics.median(seconds), (max(seconds) - min(seconds)) / min(seconds), 4)
    table.add(
        "host_adamw",
        timing,
        dtype="fp32",
        m=rows,
        direction="forward",
        other_shape=f"tensors={count};threads={threads}",
    )


MAMBA2 = [
    (1, 8192, 64, 64, 8, 128, 128),
    (1, 8192, 128, 64, 8, 128, 128),
    (4, 8192, 64, 64, 8, 128, 128),
    (1, 32768, 64, 64, 8, 128, 128),
    (1, 8192, 80, 64, 1, 128, 256),
]
DELTA = [
    (1, 8192, 32, 128, "gated_delta"),
    (1, 8192, 16, 128, "gated_delta"),
    (4, 4096, 32, 128, "gated_delta"),
    (1, 8192, 32, 128, "kda"),
    (1, 32768, 32, 128, "gated_delta"),
]
CONVOLUTIONS = [(1, 8192, 6144), (4, 8192, 6144), (1, 8192, 8192), (1, 32768, 4096)]
COPIES = [("to_host", 2**28), ("from_host", 2**28), ("both_ways", 2**28), ("to_host", 2**24)]
PACKS = [
    (8192, 32, 32, "short"),
    (8192, 32, 32, "one"),
    (8192, 32, 32, "equal"),
    (32768, 32, 32, "long"),
    (32768, 32, 32, "one"),
]
PRODUCTS = [(8192, 14336, 4096), (8192, 4096, 14336), (16384, 8192, 8192), (8192, 6144, 4096)]
MATRICES = [(4096, 4096, 16), (14336, 4096, 8), (2048, 768, 128), (8192, 8192, 4)]
HOST_UPDATES = [(2**24, 16, 16), (2**24, 16, 8), (2**26, 4, 16), (2**24, 16, 1)]


def cases() -> Iterator[tuple[Callable, tuple]]:
    """The most telling first; kinds take turns."""
    scaled = [(*sizes, scaling) for sizes in PRODUCTS for scaling in ("tensor", "row")]
    kinds: list[tuple[Callable, list]] = [
        (host, COPIES),
        (packed, PACKS),
        (narrow, scaled),
        (optimizers, MATRICES),
        (host_update, HOST_UPDATES),
        (mamba2, MAMBA2),
        (delta, DELTA),
        (convolution, CONVOLUTIONS),
    ]
    for turn in range(max(len(shapes) for _, shapes in kinds)):
        for run, shapes in kinds:
            if turn < len(shapes):
                yield run, shapes[turn]


def main() -> int:
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    give_up = time.monotonic() + float(sys.argv[2] if len(sys.argv) > 2 else 240)
    with replaced(folder / "scans.csv", newline="", keep_part=True) as file:
        table = Table(file)
        for run, of in cases():
            if time.monotonic() > give_up:
                print("left out:", run.__name__, of)
                continue
            try:
                run(table, of)
            except Exception as error:
                print("failed:", run.__name__, of, repr(error)[:300], flush=True)
                torch.cuda.synchronize()
            torch.cuda.empty_cache()
    return 0


if __name__ == "__main__":
    sys.exit(main())

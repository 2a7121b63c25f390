"""Matrix products: of bf16, of adapters, in fp8, grouped by expert."""

import itertools
import random

import torch
from gpu_samples.bench import (
    BF16,
    FP8,
    HIDDEN,
    LONGEST_S,
    TENSOR,
    TOKENS,
    Bench,
    Cases,
    drawn,
    padded_vocabulary,
)
from gpu_timing import DEVICE, HAS_GPU, Timing, instances


def product(b: Bench, m: int, n: int, k: int) -> list[Timing]:
    """y = x w^T, its data and its weight gradient, as torch.nn.Linear has them."""
    flops, moved = 2.0 * m * n * k, 2.0 * (m * n + m * k + n * k)
    if HAS_GPU and (flops / 600e12 > LONGEST_S or max(m * n, m * k, n * k) > 2**32):
        return []
    count = instances(flops, moved, 2.0 * max(m * n, m * k, n * k))
    take = b.pool.take
    timings = []
    for rows, columns, inner, kind in ((m, n, k, "nt"), (m, k, n, "nn"), (n, k, m, "tn")):

        def make(r=rows, c=columns, i=inner, kind=kind) -> tuple:
            left = take(i, r).t() if kind == "tn" else take(r, i)
            right = take(c, i).t() if kind == "nt" else take(i, c)
            return left, right

        timing, _, _ = b.forward(count, make, torch.mm)
        timings.append(timing)
    for timing, direction in zip(
        timings, ("forward", "data_gradient", "weight_gradient"), strict=True
    ):
        b.by_shape("gemm", timing, m=m, n=n, k=k, batch=1, direction=direction)
    return timings


class Summed(Timing):
    """Two timings one after the other."""

    def __init__(self, a: Timing, b: Timing) -> None:
        self.median, self.low, self.high = a.median + b.median, a.low + b.low, a.high + b.high
        self.count, self.how, self.clock_mhz = a.count, a.how, a.clock_mhz


def products(b: Bench) -> Cases:
    names = ["linear_qkv", "linear_attn_out", "linear_mlp_up", "linear_mlp_down", "linear_lm_head"]
    seen: set = set()
    sized = [
        (op, h, t, tokens) for op in names for h in HIDDEN for t in TENSOR for tokens in TOKENS
    ]

    def of_size(op: str, h: int, t: int, tokens: tuple[int, int]) -> None:
        rows = tokens[0] * tokens[1]
        n, k = {
            "linear_qkv": (3 * h // t, h),
            "linear_attn_out": (h, h // t),
            "linear_mlp_up": (4 * h // t, h),
            "linear_mlp_down": (h, 4 * h // t),
            "linear_lm_head": (padded_vocabulary(t), h),
        }[op]
        if (rows, n, k) in seen:
            return
        seen.add((rows, n, k))
        timings = product(b, rows, n, k)
        if timings:
            sizes = {"tp": t, "batch": tokens[0], "seq": tokens[1], "hidden": h, "heads": h // 64}
            b.by_size(op, timings[0], Summed(timings[1], timings[2]), **sizes)

    # Widths of published models: (hidden, queries with keys and values, ffn, vocabulary).
    models = [
        (2048, 3072, 8192, 128256), (3072, 5120, 8192, 128256), (4096, 6144, 14336, 128256),
        (4096, 12288, 11008, 32000), (5120, 7168, 25600, 151936), (5120, 15360, 13824, 32000),
        (8192, 10240, 28672, 128256), (7168, 2112, 18432, 129280), (7168, 1536, 2048, 129280),
        (2880, 5120, 2880, 201088), (3584, 4608, 18944, 152064), (16384, 18432, 53248, 128256),
    ] if HAS_GPU else [(64, 96, 160, 512)]  # fmt: skip
    shaped = []
    for h, qkv, ffn, vocabulary in models:
        for t, rows in itertools.product([1, 2, 4, 8], [128, 512, 1024, 2048, 4096, 8192, 16384]):
            shaped += [(rows, qkv // t, h), (rows, 2 * ffn // t, h), (rows, h, ffn // t)]
            shaped += [(rows, vocabulary // t, h)] * (rows <= 8192)

    def of_shape(m: int, n: int, k: int) -> None:
        if (m, n, k) not in seen:
            seen.add((m, n, k))
            product(b, m, n, k)

    mixed = [lambda c=c: of_size(*c) for c in drawn(sized)]
    other = [lambda c=c: of_shape(*c) for c in drawn(shaped)]
    for one, two, three in itertools.zip_longest(mixed[::2], mixed[1::2], other):
        yield from (each for each in (one, two, three) if each)


def adapters(b: Bench) -> Cases:
    """Products of low-rank adapters: from a width to a rank and back."""
    widths = [1024, 2048, 4096, 6144, 8192, 14336, 28672] if HAS_GPU else [64]
    ranks = [8, 16, 32, 64, 128, 256] if HAS_GPU else [8]
    rows = [512, 1024, 2048, 4096, 8192, 16384] if HAS_GPU else [32]
    shapes = [
        shape
        for m, r, h in itertools.product(rows, ranks, widths)
        for shape in ((m, r, h), (m, h, r))
    ]
    for m, n, k in drawn(shapes):
        yield lambda m=m, n=n, k=k: product(b, m, n, k)


def fp8(b: Bench) -> Cases:
    shapes = [
        (m, n, k)
        for m in ([128, 512, 2048, 4096, 8192, 16384] if HAS_GPU else [32])
        for n, k in (
            [
                (2048, 2048), (4096, 4096), (6144, 4096), (28672, 4096), (4096, 14336),
                (8192, 8192), (10240, 8192), (57344, 8192), (8192, 28672), (14336, 8192),
                (8192, 7168), (7168, 2048), (4096, 7168), (36864, 7168), (7168, 18432),
                (1024, 4096), (5120, 5120), (16384, 16384), (128256, 4096), (2112, 7168),
                (1536, 2048), (2048, 768),
            ]
            if HAS_GPU
            else [(64, 64)]
        )
    ]  # fmt: skip

    def case(m: int, n: int, k: int, scaling: str) -> None:
        flops, moved = 2.0 * m * n * k, 1.0 * (m * k + n * k) + 2.0 * m * n
        rows = scaling == "rowwise"
        left = torch.ones(m, 1, device=DEVICE) if rows else torch.ones((), device=DEVICE)
        right = torch.ones(1, n, device=DEVICE) if rows else torch.ones((), device=DEVICE)

        def work(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
            return torch._scaled_mm(x, w, left, right, out_dtype=BF16, use_fast_accum=True)

        def make() -> tuple:
            return b.pool.take(m, k, dtype=FP8), b.pool.take(n, k, dtype=FP8).t()

        timing, _, _ = b.forward(instances(flops / 2, moved, 2.0 * m * n), make, work)
        kernel = f"torch._scaled_mm {scaling} fast_accum"
        shape = {"m": m, "n": n, "k": k, "batch": 1, "direction": "forward"}
        b.by_shape("gemm", timing, kernel, dtype="fp8", **shape)

    def cast(m: int, k: int) -> None:
        def work(x: torch.Tensor) -> tuple:
            scale = 448.0 / x.abs().amax().float().clamp(min=1e-12)
            return (x * scale).to(FP8), scale

        timing, _, _ = b.forward(
            instances(0, 9.0 * m * k, 6.0 * m * k), lambda: (b.pool.take(m, k),), work
        )
        b.by_shape("fp8_cast", timing, "eager: amax, scale, cast", m=m, n=k, direction="forward")

    for each in drawn([(*s, how) for s in shapes for how in ("tensorwise", "rowwise")]):
        yield lambda c=each: case(*c)
    for m, k in itertools.product([2048, 8192, 16384] if HAS_GPU else [8], [4096, 8192]):
        yield lambda m=m, k=k: cast(m, k)


def loads(rows: int, experts: int, spread: str) -> list[int]:
    """Rows of each expert: even, or drawn, the busiest with about two or four times the mean."""
    if spread == "even":
        return [rows // experts] * experts
    draw = random.Random(rows * 131 + experts)
    shape = 6.0 if spread == "uneven" else 1.0
    weights = [draw.gammavariate(shape, 1.0) for _ in range(experts)]
    counts = [int(rows * w / sum(weights)) // 16 * 16 for w in weights]
    counts[counts.index(max(counts))] += rows - sum(counts)
    return counts


def grouped_cases() -> list[tuple]:
    """Rows, experts, columns, inner size and how rows are spread."""
    widths = [(2048, 768), (2048, 1408), (4096, 1536), (7168, 2048), (4096, 14336), (2880, 2880)]
    if not HAS_GPU:
        widths = [(64, 32)]
    return [
        (rows, experts, n, k, spread)
        for rows in ([2048, 8192, 32768, 131072] if HAS_GPU else [64])
        for experts in ([8, 16, 32, 64, 128] if HAS_GPU else [4])
        for h, f in widths
        for n, k in ((2 * f, h), (h, f))
        for spread in ("even", "uneven", "skewed")
        if experts * n * k < 2**31
    ]


def grouped(b: Bench) -> Cases:
    def case(of: tuple[int, int, int, int, str], narrow: bool) -> None:
        rows, experts, n, k, spread = of
        counts = loads(rows, experts, spread)
        offsets = torch.tensor(list(itertools.accumulate(counts)), dtype=torch.int32, device=DEVICE)
        flops = 2.0 * rows * n * k
        width = 1.0 if narrow else 2.0
        moved = width * (rows * k + experts * n * k) + 2.0 * rows * n
        if flops / 500e12 > LONGEST_S:
            return
        about = {
            "m": rows, "n": n, "k": k, "batch": experts,
            "other_shape": f"loads={spread};busiest={max(counts) * experts / rows:.3f}",
        }  # fmt: skip
        take = b.pool.take
        if narrow:
            left = torch.ones(rows, device=DEVICE)
            right = torch.ones(experts, n, device=DEVICE)

            def work(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
                return torch._scaled_grouped_mm(
                    x, w.transpose(-2, -1), left, right, offs=offsets, out_dtype=BF16,
                    use_fast_accum=True,
                )  # fmt: skip

            def make() -> tuple:
                return take(rows, k, dtype=FP8), take(experts, n, k, dtype=FP8)

            timing, _, _ = b.forward(instances(flops / 2, moved, 2.0 * rows * n), make, work)
            kernel = "torch._scaled_grouped_mm rowwise"
            b.by_shape("grouped_gemm", timing, kernel, dtype="fp8", direction="forward", **about)
            return
        sides = {
            "forward": (
                lambda: (take(rows, k), take(experts, n, k).transpose(-2, -1)), 2.0 * rows * n
            ),
            "data_gradient": (lambda: (take(rows, n), take(experts, n, k)), 2.0 * rows * k),
            "weight_gradient": (lambda: (take(rows, n).t(), take(rows, k)), 2.0 * experts * n * k),
        }  # fmt: skip
        for direction, (make, kept) in sides.items():
            timing, _, _ = b.forward(
                instances(flops, moved, kept),
                make,
                lambda x, w: torch._grouped_mm(x, w, offs=offsets, out_dtype=BF16),
            )
            b.by_shape("grouped_gemm", timing, "torch._grouped_mm", direction=direction, **about)

    for i, each in enumerate(drawn(grouped_cases())):
        yield lambda c=each: case(c, False)
        if i % 3 == 0:
            yield lambda c=each: case(c, True)

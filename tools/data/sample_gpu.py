"""Times the operators of training steps on one GPU and writes tables that `stepwright fit` reads.

    python3 -B tools/data/sample_gpu.py OUT GROUP[:SECONDS]...

Groups: products adapters fp8 grouped attention ring core rows compiled loss experts updates copies
host. Writes two tables of docs/formats.md, "Samples": OUT/operators.csv, by model size, and
OUT/kernels.csv, by shape, which also has what no class of operators covers. Each call of a CUDA
graph has operands of its own, so that they come from memory; a time is the median over replays of
the graph, divided by its calls; `spread` is the distance of the outer tenths over the median. Cases
are drawn in one order; what SECONDS does not cover is left out. Without a GPU: toy sizes.
"""

import csv
import gc
import itertools
import random
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import torch
import torch._dynamo
import torch._functorch.config
import torch.nn.functional as F  # noqa: N812
from gpu_timing import DEVICE, HAS_GPU, Nvml, Pool, Stopwatch, Timing, gpu_name, instances, software
from torch.nn.attention import SDPBackend, sdpa_kernel

BF16, FP32, FP8 = torch.bfloat16, torch.float32, torch.float8_e4m3fn
SIZES = ["op", "tp", "batch", "seq", "hidden", "heads", "layers", "fwd_us", "bwd_us"]
BY_SIZE = [*SIZES, "fwd_spread", "bwd_spread", "fwd_timed", "bwd_timed"]
BY_SHAPE = [
    "id",
    "source_url",
    "source_note",
    "year",
    "gpu",
    "software",
    "op",
    "dtype",
    "m",
    "n",
    "k",
    "batch",
    "seq_len",
    "heads",
    "kv_heads",
    "head_dim",
    "hidden",
    "causal",
    "direction",
    "other_shape",
    "metric",
    "value",
    "extra",
]
HIDDEN = [512, 1024, 2048, 3072, 4096, 5120, 6144, 8192, 12288, 16384] if HAS_GPU else [64]
TOKENS = (
    [(1, 128), (1, 256), (1, 512), (1, 1024), (1, 2048), (1, 4096), (2, 4096), (4, 4096), (8, 4096)]
    if HAS_GPU
    else [(1, 32)]
)
TENSOR = [1, 2, 4, 8]
VOCABULARY = 50257
LONGEST_S = 0.04


def padded_vocabulary(tensor: int) -> int:
    return -(-VOCABULARY // (128 * tensor)) * 128


class Bench:
    """Operands, stopwatch and the two tables."""

    def __init__(self, folder: Path, pool_gib: float) -> None:
        self.pool = Pool(pool_gib)
        self.nvml = Nvml()
        self.watch = Stopwatch(self.nvml)
        self.gpu, self.software = gpu_name(), software()
        folder.mkdir(parents=True, exist_ok=True)
        self.sizes_file = self.table(folder / "operators.csv", BY_SIZE)
        self.shapes_file = self.table(folder / "kernels.csv", BY_SHAPE)
        self.rows = 0

    def table(self, path: Path, header: list[str]) -> csv.DictWriter:
        fresh = not path.exists()
        file = path.open("a", newline="")
        self.__dict__.setdefault("files", []).append(file)
        writer = csv.DictWriter(file, header, lineterminator="\n")
        if fresh:
            writer.writeheader()
        return writer

    def flush(self) -> None:
        for file in self.files:
            file.flush()

    def by_size(self, op: str, forward: Timing | None, backward: Timing | None, **sizes) -> None:
        row = {"op": op, "tp": 1, **sizes}
        for side, timing in (("fwd", forward), ("bwd", backward)):
            if timing is not None:
                row[f"{side}_us"] = f"{timing.median * 1e6:.6g}"
                row[f"{side}_spread"] = f"{timing.spread:.4f}"
                row[f"{side}_timed"] = timing.how
        self.sizes_file.writerow(row)
        self.rows += 1

    def by_shape(self, op: str, timing: Timing, kernel: str = "", **shape) -> None:
        row = {
            "source_note": "measured by this project with tools/data/sample_gpu.py",
            "year": 2026,
            "gpu": self.gpu,
            "software": f"{self.software}{'; ' if kernel else ''}{kernel}",
            "op": op,
            "dtype": "bf16",
            "metric": "time_us",
            "value": f"{timing.median * 1e6:.6g}",
            "extra": timing.text(),
            **shape,
        }
        self.shapes_file.writerow(row)
        self.rows += 1

    def forward(
        self, count: int, make: Callable[[], tuple], work: Callable
    ) -> tuple[Timing, list[tuple], list]:
        """The time of work on `count` sets of operands; operands and results."""
        operands = [make() for _ in range(count)]
        timing, results = self.watch.time([lambda o=o: work(*o) for o in operands])
        return timing, operands, results

    def both(
        self, count: int, make: Callable[[], tuple], work: Callable, wanted: Callable = lambda o: o
    ) -> tuple[Timing, Timing]:
        """Forward and backward by autograd; `wanted` says for which operands gradients are."""

        def leaves() -> tuple:
            operands = make()
            for each in wanted(operands):
                each.requires_grad_()
            return operands

        forward, operands, results = self.forward(count, leaves, work)
        gradients = [
            torch.ones_like(r) if r.dim() == 0 else self.pool.take(*r.shape, dtype=r.dtype)
            for r in results
        ]
        backward, _ = self.watch.time(
            [
                lambda r=r, o=o, g=g: torch.autograd.grad(r, list(wanted(o)), g, retain_graph=True)
                for r, o, g in zip(results, operands, gradients, strict=True)
            ]
        )
        return forward, backward


Cases = Iterator[Callable[[], None]]


def drawn(cases: list, seed: int = 7) -> list:
    random.Random(seed).shuffle(cases)
    return cases


# Matrix products.


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


# Attention.

KERNELS = {
    "flash": (SDPBackend.FLASH_ATTENTION, "SDPA flash (FlashAttention-2)"),
    "cudnn": (SDPBackend.CUDNN_ATTENTION, "SDPA cuDNN"),
    "math": (SDPBackend.MATH, "SDPA math"),
}


def attention_cases() -> list[tuple]:
    """Kernel, batch, length, heads, heads of keys, their widths, whether causal; each once."""
    lengths = [512, 1024, 2048, 4096, 8192, 16384, 32768, 65536] if HAS_GPU else [32]
    heads = [(32, 8), (32, 32), (16, 16), (64, 8), (8, 1), (16, 2), (4, 1), (40, 8), (96, 8)]
    cases = []
    for length, (q, kv), (d, v) in itertools.product(
        lengths, heads, [(128, 128), (64, 64), (192, 128)]
    ):
        if (d, v) == (192, 128) and q != kv:
            continue
        for tokens in (8192, 32768) if HAS_GPU else (64,):
            batch = max(1, tokens // length)
            for kernel in ("flash", "cudnn"):
                cases.append((kernel, batch, length, q, kv, d, v, True))
            if (d, length) in ((128, 4096), (64, 2048), (128, 1024)):
                cases += [
                    (kernel, batch, length, q, kv, d, v, False) for kernel in ("flash", "cudnn")
                ]
    cases += [
        ("math", 1, s, h, h, d, d, True) for s in lengths[:3] for h in (8, 32) for d in (64, 128)
    ]
    return list(dict.fromkeys(cases))


def ring_cases() -> list[tuple]:
    """One sequence's blocks as the ranks of a ring visit them."""
    lengths = [128, 256, 512, 1024, 2048, 4096] if HAS_GPU else [32]
    heads = [(64, 8), (32, 8), (32, 32), (16, 2), (8, 1)]
    kinds = itertools.product(("flash", "cudnn"), lengths, heads, (True, False))
    return [(kernel, 1, s, q, kv, 128, 128, causal) for kernel, s, (q, kv), causal in kinds]


def attention(b: Bench) -> Cases:
    yield from attention_over(b, attention_cases())


def ring(b: Bench) -> Cases:
    yield from attention_over(b, ring_cases())


def attention_over(b: Bench, cases: list[tuple]) -> Cases:
    def case(of: tuple) -> None:
        kernel, batch, length, heads, kv_heads, d, v, causal = of
        pairs = length * (length + 1) / 2 if causal else length * length
        flops = 2.0 * batch * heads * pairs * (d + v)
        moved = 2.0 * batch * length * (heads + kv_heads) * (d + v)
        if HAS_GPU and flops / 350e12 > LONGEST_S:
            return
        backend, name = KERNELS[kernel if HAS_GPU else "math"]

        def make() -> tuple:
            sizes = ((heads, d), (kv_heads, d), (kv_heads, v))
            return tuple(b.pool.take(batch, length, h, w).transpose(1, 2) for h, w in sizes)

        def work(q, k, v_) -> torch.Tensor:
            with sdpa_kernel(backend):
                return F.scaled_dot_product_attention(
                    q, k, v_, is_causal=causal, enable_gqa=heads != kv_heads
                )

        kept = 4.0 * batch * length * heads * v
        if kernel == "math":
            kept += 12.0 * batch * heads * length * length
        forward, backward = b.both(instances(flops, moved, kept), make, work)
        shape = {
            "batch": batch, "seq_len": length, "heads": heads, "kv_heads": kv_heads, "head_dim": d,
            "causal": "y" if causal else "n",
            "other_shape": f"value_dim={v}" if d != v else "",
        }  # fmt: skip
        op = (
            "attention"
            if d == v and kernel != "math"
            else "attention_" + ("math" if d == v else "wide")
        )
        b.by_shape(op, forward, name, direction="forward", **shape)
        b.by_shape(op, backward, name, direction="backward", **shape)
        if kernel == "flash" and not causal and heads == kv_heads:
            sizes = {"batch": batch, "seq": length, "hidden": heads * d, "heads": heads}
            b.by_size("flash_attention_noncausal", forward, backward, **sizes)

    for each in drawn(cases):
        yield lambda c=each: case(c)


def core(b: Bench) -> Cases:
    """Attention that is not fused: products, mask, softmax."""
    cases = [
        (h, heads, t, batch, s)
        for h, heads in (
            [(2048, 16), (4096, 32), (4096, 64), (6144, 48), (8192, 64)] if HAS_GPU else [(64, 4)]
        )
        for t in (1, 2, 4, 8)
        for batch, s in (
            [(1, 1024), (1, 2048), (1, 4096), (4, 1024), (4, 2048)] if HAS_GPU else [(1, 32)]
        )
        if heads >= t and (heads // t) * batch * s * s <= 2**30
    ]

    def case(h: int, heads: int, t: int, batch: int, s: int) -> None:
        count, d = batch * heads // t, h // heads
        scores = float(count) * s * s
        moved = 2.0 * (scores + 2.0 * count * s * d)
        n = instances(2 * scores * d, moved, 6 * scores)
        sizes = {"tp": t, "batch": batch, "seq": s, "hidden": h, "heads": heads}
        take = b.pool.take
        make_scores = lambda: (take(count, s, d), take(count, s, d))  # noqa: E731
        both = b.both(n, make_scores, lambda q, k: torch.bmm(q, k.transpose(1, 2)))
        b.by_size("attn_scores_bmm", *both, **sizes)
        make_context = lambda: (take(count, s, s), take(count, s, d))  # noqa: E731
        b.by_size("attn_context_bmm", *b.both(n, make_context, torch.bmm), **sizes)
        shape = (batch, heads // t, s, s)
        mask = torch.ones(s, s, dtype=torch.bool, device=DEVICE).triu_(1)
        b.by_size(
            "attn_mask_fill",
            *b.both(n, lambda: (take(*shape),), lambda x: x.masked_fill(mask, -10000.0)),
            **sizes,
        )
        b.by_size(
            "softmax_unfused", *b.both(n, lambda: (take(*shape),), lambda x: x.softmax(-1)), **sizes
        )

    for each in drawn(cases):
        yield lambda c=each: case(*c)


# Rows.


def unfused_rmsnorm(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    wide = x.float()
    return w * (wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + 1e-5)).to(x.dtype)


def rotated(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    half = x.shape[-1] // 2
    turned = torch.cat((-x[..., half:], x[..., :half]), dim=-1)
    return x * cos + turned * sin


def swiglu(x: torch.Tensor) -> torch.Tensor:
    gate, up = x.chunk(2, dim=-1)
    return F.silu(gate) * up


def angles(length: int, d: int) -> tuple[torch.Tensor, torch.Tensor]:
    turns = torch.outer(
        torch.arange(length, device=DEVICE).float(), torch.rand(d // 2, device=DEVICE)
    )
    turns = torch.cat((turns, turns), dim=-1)
    return turns.cos().to(BF16)[:, None, :], turns.sin().to(BF16)[:, None, :]


class Rows:
    """Times of what works on each row by itself."""

    def __init__(self, b: Bench) -> None:
        self.b = b
        self.take = b.pool.take

    def norm(self, kind: str, h: int, batch: int, s: int) -> None:
        r = batch * s
        n = instances(0, 4.0 * r * h, (12.0 if kind == "rmsnorm_unfused" else 4.0) * r * h)
        make = {
            "layernorm": lambda: (self.take(r, h), self.take(h), self.take(h)),
            "rmsnorm_unfused": lambda: (self.take(r, h), self.take(h)),
            "rmsnorm": lambda: (self.take(r, h), self.take(h)),
        }[kind]
        work = {
            "layernorm": lambda x, w, c: F.layer_norm(x, (h,), w, c),
            "rmsnorm_unfused": unfused_rmsnorm,
            "rmsnorm": lambda x, w: F.rms_norm(x, (h,), w),
        }[kind]
        forward, backward = self.b.both(n, make, work)
        if kind != "rmsnorm":
            self.b.by_size(kind, forward, backward, batch=batch, seq=s, hidden=h, heads=h // 64)
            return
        for timing, direction in ((forward, "forward"), (backward, "backward")):
            self.b.by_shape(
                "rmsnorm", timing, "F.rms_norm eager", m=r, hidden=h, direction=direction
            )

    def residual(self, h: int, batch: int, s: int) -> None:
        r = batch * s
        n = instances(0, 6.0 * r * h, 2.0 * r * h)
        timing, _, _ = self.b.forward(n, lambda: (self.take(r, h), self.take(r, h)), torch.add)
        self.b.by_size("residual_add", timing, None, batch=batch, seq=s, hidden=h, heads=h // 64)

    def gelu(self, h: int, t: int, batch: int, s: int) -> None:
        r, c = batch * s, 4 * h // t
        n = instances(0, 4.0 * r * c, 2.0 * r * c)
        both = self.b.both(n, lambda: (self.take(r, c),), F.gelu)
        self.b.by_size("gelu", *both, tp=t, batch=batch, seq=s, hidden=h, heads=h // 64)

    def gated(self, h: int, t: int, batch: int, s: int) -> None:
        r, c = batch * s, h * 7 // 2 // t
        n = instances(0, 6.0 * r * c, 6.0 * r * c)
        both = self.b.both(n, lambda: (self.take(r, 2 * c),), swiglu)
        for timing, direction in zip(both, ("forward", "backward"), strict=True):
            self.b.by_shape("swiglu", timing, "eager", m=r, n=c, direction=direction)

    def rope(self, h: int, d: int, t: int, batch: int, s: int) -> None:
        heads = h // d
        cos, sin = angles(s, d)
        n = instances(0, 4.0 * batch * s * heads // t * d, 10.0 * batch * s * heads // t * d)
        make = lambda: (self.take(batch, s, heads // t, d),)  # noqa: E731
        both = self.b.both(n, make, lambda x: rotated(x, cos, sin))
        self.b.by_size("rope", *both, tp=t, batch=batch, seq=s, hidden=h, heads=heads)

    def embedding(self, h: int, t: int, batch: int, s: int) -> None:
        r, v = batch * s, padded_vocabulary(t)
        n = min(8, instances(0, 4.0 * r * h, 2.0 * r * h + 2.0 * v * h))
        ids = [torch.randint(v, (batch, s), device=DEVICE) for _ in range(n)]
        turn = iter(ids * 2)
        both = self.b.both(
            n,
            lambda: (self.take(v, h), next(turn)),
            lambda w, i: F.embedding(i, w),
            wanted=lambda o: o[:1],
        )
        self.b.by_size("embedding", *both, tp=t, batch=batch, seq=s, hidden=h, heads=h // 64)


def rows(b: Bench) -> Cases:
    tokens = [(1, 256), *TOKENS[2:], (16, 4096)] if HAS_GPU else TOKENS
    of = Rows(b)
    cases: list[Callable] = []
    for h, (batch, s) in itertools.product(HIDDEN, tokens):
        for kind in ("layernorm", "rmsnorm_unfused", "rmsnorm"):
            cases.append(lambda kind=kind, h=h, n=batch, s=s: of.norm(kind, h, n, s))
        cases.append(lambda h=h, n=batch, s=s: of.residual(h, n, s))
        for t in (1, 4):
            if 4 * h // t * batch * s <= 2**31:
                cases.append(lambda h=h, t=t, n=batch, s=s: of.gelu(h, t, n, s))
                cases.append(lambda h=h, t=t, n=batch, s=s: of.gated(h, t, n, s))
            cases.append(lambda h=h, t=t, n=batch, s=s: of.embedding(h, t, n, s))
            d = 128 if h >= 2048 else 64
            if h // d >= t:
                cases.append(lambda h=h, d=d, t=t, n=batch, s=s: of.rope(h, d, t, n, s))
    yield from drawn(cases)


def compiled(b: Bench) -> Cases:
    """The same in kernels that torch.compile makes."""
    take = b.pool.take
    tokens = (
        [(1, 512), (1, 2048), (1, 4096), (4, 4096), (8, 4096), (16, 4096)] if HAS_GPU else TOKENS
    )
    fused = {
        "layernorm": torch.compile(lambda x, w, c: F.layer_norm(x, x.shape[-1:], w, c)),
        "rmsnorm": torch.compile(unfused_rmsnorm),
        "swiglu": torch.compile(swiglu, dynamic=True),
        "gelu": torch.compile(F.gelu, dynamic=True),
        "rope": torch.compile(rotated, dynamic=True),
        "residual_norm": torch.compile(lambda x, y, w: unfused_rmsnorm(x + y, w)),
    }

    def case(op: str, h: int, batch: int, s: int) -> None:
        r = batch * s
        if op == "rope":
            cos, sin = angles(s, 128)
            make = lambda: (take(batch, s, h // 128, 128),)  # noqa: E731
            work = lambda x: fused["rope"](x, cos, sin)  # noqa: E731
            columns, moved = h, 4.0 * r * h
        elif op in ("swiglu", "gelu"):
            columns = h * 7 // 2
            make = lambda: (take(r, columns * (2 if op == "swiglu" else 1)),)  # noqa: E731
            work, moved = fused[op], (6.0 if op == "swiglu" else 4.0) * r * columns
        else:
            extra = {"layernorm": 2, "rmsnorm": 1, "residual_norm": 1}[op]
            wide = 2 if op == "residual_norm" else 1

            def make() -> tuple:
                return (*(take(r, h) for _ in range(wide)), *(take(h) for _ in range(extra)))

            work, columns, moved = fused[op], h, 2.0 * (1 + wide) * r * h
        for operand in make():  # rows may vary without another compilation
            torch._dynamo.mark_dynamic(operand, 0) if operand.dim() > 1 else None
        forward, backward = b.both(instances(0, moved, 8.0 * r * columns), make, work)
        for timing, direction in ((forward, "forward"), (backward, "backward")):
            b.by_shape(op, timing, "torch.compile", m=r, n=columns, direction=direction)

    for op in fused:
        widths = [2048, 4096, 8192] if HAS_GPU else [128]
        for h, (batch, s) in itertools.product(widths, tokens):
            yield lambda op=op, h=h, n=batch, s=s: case(op, h, n, s)


def loss(b: Bench) -> Cases:
    """Cross entropy over the vocabulary."""
    tokens = (
        [(1, 256), (1, 1024), (1, 2048), (1, 4096), (2, 4096), (4, 4096)] if HAS_GPU else TOKENS
    )
    fused = torch.compile(lambda x, y: F.cross_entropy(x.float(), y), dynamic=True)

    def case(how: str, v: int, batch: int, s: int, t: int) -> None:
        r = batch * s
        width = 4.0 if how == "fp32" else 2.0
        if r * v > 2**31:
            return
        n = min(6, instances(0, 2 * width * r * v, 16.0 * r * v))
        targets = torch.randint(v, (r,), device=DEVICE)
        dtype = FP32 if how == "fp32" else BF16
        work = {
            "fp32": lambda x: F.cross_entropy(x, targets),
            "eager": lambda x: F.cross_entropy(x.float(), targets),
            "compiled": lambda x: fused(x, targets),
        }[how]
        both = b.both(n, lambda: (b.pool.take(r, v, dtype=dtype),), work)
        if how == "fp32" and v == padded_vocabulary(t):
            b.by_size("cross_entropy", *both, tp=t, batch=batch, seq=s)
        kernel = {"fp32": "eager on fp32 logits", "eager": "eager, bf16 logits cast to fp32"}
        for timing, direction in zip(both, ("forward", "backward"), strict=True):
            about = {"m": r, "n": v, "direction": direction}
            if how == "fp32":
                about["dtype"] = "fp32"
            b.by_shape(
                "cross_entropy", timing, kernel.get(how, "torch.compile, bf16 logits"), **about
            )

    cases = [("fp32", padded_vocabulary(t), *x, t) for t in TENSOR for x in tokens]
    for v in [32000, 128256, 151936] if HAS_GPU else [512]:
        cases += [(how, v, *x, 1) for how in ("fp32", "eager", "compiled") for x in tokens]
    for each in drawn(cases):
        yield lambda c=each: case(*c)


def experts(b: Bench) -> Cases:
    """What routes rows: gate, sort, gather, weighted sum."""
    take = b.pool.take

    def case(r: int, h: int, top: int, count: int) -> None:
        about = {"m": r, "hidden": h, "other_shape": f"top_k={top};experts={count}"}
        ids = torch.rand(r, count, device=DEVICE).topk(top).indices
        order = ids.flatten().argsort(stable=True)
        source, weights = order // top, torch.rand(r * top, 1, device=DEVICE, dtype=BF16)
        copies = r * top
        n = instances(0, 4.0 * copies * h, 2.0 * copies * h)
        both = b.both(n, lambda: (take(r, h),), lambda x: x.index_select(0, source))
        for timing, direction in zip(both, ("forward", "backward"), strict=True):
            b.by_shape("permute", timing, "index_select", direction=direction, **about)
        n = instances(0, 8.0 * copies * h, 12.0 * copies * h)
        inverse = order.argsort()

        def gathered(y: torch.Tensor) -> torch.Tensor:
            return (y * weights).index_select(0, inverse).view(r, top, h).sum(1)

        both = b.both(n, lambda: (take(copies, h),), gathered)
        for timing, direction in zip(both, ("forward", "backward"), strict=True):
            b.by_shape(
                "unpermute", timing, "scale, index_select, sum", direction=direction, **about
            )
        timing, _, _ = b.forward(
            instances(0, 4.0 * copies * h, 4.0 * r * h),
            lambda: (take(copies, h), torch.zeros(r, h, dtype=BF16, device=DEVICE)),
            lambda y, out: out.index_add_(0, source, y),
        )
        b.by_shape("unpermute_atomic", timing, "index_add_", direction="forward", **about)
        timing, _, _ = b.forward(
            16 if HAS_GPU else 1,
            lambda: (take(r, count),),
            lambda x: x.float().softmax(-1).topk(top),
        )
        b.by_shape("gate_top_k", timing, "softmax fp32, topk", direction="forward", **about)
        timing, _, _ = b.forward(
            16 if HAS_GPU else 1, lambda: (ids,), lambda i: i.flatten().sort(stable=True)
        )
        b.by_shape("expert_sort", timing, "sort of int64", direction="forward", **about)

    sizes = [1024, 4096, 8192, 16384] if HAS_GPU else [32]
    widths = [2048, 4096, 7168] if HAS_GPU else [64]
    kinds = [(2, 8), (8, 64), (8, 128), (8, 256), (4, 32)] if HAS_GPU else [(2, 8)]
    for r, h, (top, count) in drawn(list(itertools.product(sizes, widths, kinds))):
        yield lambda c=(r, h, top, count): case(*c)


# Model states and copies.


def updates(b: Bench) -> Cases:
    """AdamW in one multi-tensor kernel on fp32 states, and the copy to bf16 weights: 30 bytes."""

    def step(sizes: list[int]) -> tuple[Timing, Timing]:
        master, gradient, first, second = (
            [torch.full((n,), 1e-3, device=DEVICE) for n in sizes] for _ in range(4)
        )
        weights = [torch.zeros(n, dtype=BF16, device=DEVICE) for n in sizes]
        steps = [torch.ones((), device=DEVICE) for _ in sizes]

        def update() -> None:
            torch._fused_adamw_(
                master, gradient, first, second, [], steps, lr=1e-6, beta1=0.9, beta2=0.95,
                weight_decay=0.1, eps=1e-8, amsgrad=False, maximize=False,
            )  # fmt: skip

        def whole() -> None:
            update()
            torch._foreach_copy_(weights, master)

        count = 8 if sum(sizes) < 2e7 else 1
        return b.watch.time([whole] * count)[0], b.watch.time([update] * count)[0]

    def layered(h: int, layers: int, t: int) -> None:
        tensors = [h, h, h, h]
        tensors += [
            n // t for n in (3 * h * (h + 1), h * (h + 1), 4 * h * (h + 1), h * (4 * h + 1))
        ]
        if sum(tensors) * layers > 3.2e9:
            return
        timing, _ = step(tensors * layers)
        b.by_size("adam_middle_stage", timing, None, tp=t, hidden=h, layers=layers)

    def flat(count: int, tensors: int) -> None:
        whole, update = step([count // tensors] * tensors)
        about = {"m": count, "batch": tensors, "dtype": "fp32", "direction": "optimizer"}
        b.by_shape("adamw_with_copy", whole, "_fused_adamw_, _foreach_copy_", **about)
        b.by_shape("adamw", update, "_fused_adamw_", **about)

    cases = [
        lambda c=(h, layers, t): layered(*c)
        for h in ([512, 1024, 2048, 3072, 4096, 6144, 8192] if HAS_GPU else [64])
        for layers in (1, 2, 4, 8, 16)
        for t in (1, 2, 8)
    ]
    cases += [
        lambda c=(2**power, tensors): flat(*c)
        for power in (range(16, 32) if HAS_GPU else [12])
        for tensors in (1, 64)
    ]
    yield from drawn(cases)


def copies(b: Bench) -> Cases:
    take = b.pool.take

    def empty(n: int, dtype: torch.dtype) -> torch.Tensor:
        return torch.empty(n, dtype=dtype, device=DEVICE)

    def to_fp32(n: int, dtype: torch.dtype) -> tuple:
        return empty(n, FP32), take(n, dtype=dtype)

    def add(y: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
        return y.add_(x)

    kinds = {
        "copy": (4, lambda n: (empty(n, BF16), take(n)), lambda y, x: y.copy_(x)),
        "cast_bf16_fp32": (6, lambda n: (empty(n, FP32), take(n)), lambda y, x: y.copy_(x)),
        "cast_fp32_bf16": (
            6, lambda n: (empty(n, BF16), take(n, dtype=FP32)), lambda y, x: y.copy_(x)
        ),
        "accumulate_bf16_to_fp32": (10, lambda n: to_fp32(n, BF16), add),
        "accumulate_fp32": (12, lambda n: to_fp32(n, FP32), add),
        "accumulate_bf16": (6, lambda n: (empty(n, BF16), take(n)), lambda y, x: y.add_(x)),
        "fill": (2, lambda n: (empty(n, BF16),), lambda y: y.zero_()),
        "norm_square_fp32": (4, lambda n: (take(n, dtype=FP32),), torch.linalg.vector_norm),
        "transpose": (
            4,
            lambda n: (empty(n, BF16).view(n // 2048, 2048), take(2048, n // 2048)),
            lambda y, x: y.copy_(x.t()),
        ),
    }  # fmt: skip

    def case(op: str, n: int) -> None:
        width, make, work = kinds[op]
        timing, _, _ = b.forward(instances(0, width * n, 4.0 * n), lambda: make(n), work)
        about = {"other_shape": f"bytes={width * n}", "direction": "forward"}
        b.by_shape(op, timing, "eager", m=n, **about)

    def to_host(n: int, up: bool) -> None:
        there = torch.empty(n, dtype=BF16, pin_memory=HAS_GPU)
        here = empty(n, BF16)
        pair = (here, there) if up else (there, here)
        timing, _ = b.watch.time([lambda: pair[0].copy_(pair[1], non_blocking=True)])
        b.by_shape("host_to_device" if up else "device_to_host", timing, "pinned", m=n)

    for op, power in drawn(list(itertools.product(kinds, range(16, 31) if HAS_GPU else [12]))):
        yield lambda op=op, n=2**power: case(op, n)
    for power, up in itertools.product(range(12, 30, 3) if HAS_GPU else [12], (True, False)):
        yield lambda n=2**power, up=up: to_host(n, up)


# What a launch costs the host.


HOST_HIDDEN = 256


def issued(work: Callable[[], object], repeats: int = 300) -> Timing:
    """Seconds of the host to issue one call."""
    seconds = []
    for _ in range(7):
        if HAS_GPU:
            torch.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(repeats):
            work()
        seconds.append((time.perf_counter() - start) / repeats)
    return Timing(seconds[1:], "host", 0)


def host_calls() -> dict[str, tuple[Callable, tuple]]:
    """Operators and small operands."""
    h = HOST_HIDDEN
    x = torch.randn(8, h, device=DEVICE, dtype=BF16)
    w, g = torch.randn(h, h, device=DEVICE, dtype=BF16), torch.randn(h, device=DEVICE, dtype=BF16)
    q = torch.randn(1, 4, 16, 64, device=DEVICE, dtype=BF16)

    def attend(a: torch.Tensor) -> torch.Tensor:
        return F.scaled_dot_product_attention(a, a, a, is_causal=True)

    return {
        "linear": (F.linear, (x, w)),
        "add": (torch.add, (x, x)),
        "mul": (torch.mul, (x, x)),
        "silu": (F.silu, (x,)),
        "gelu": (F.gelu, (x,)),
        "layer_norm": (lambda a, c: F.layer_norm(a, (h,), c), (x, g)),
        "rms_norm": (lambda a, c: F.rms_norm(a, (h,), c), (x, g)),
        "rms_norm_unfused": (unfused_rmsnorm, (x, g)),
        "swiglu": (swiglu, (x,)),
        "attention": (attend, (q,)),
        "cross_entropy": (
            lambda a: F.cross_entropy(a.float(), torch.zeros(8, dtype=torch.long, device=DEVICE)),
            (x,),
        ),
        "copy": (lambda a: a.clone(), (x,)),
    }


def host(b: Bench) -> Cases:
    """Host time of issuing operators of PyTorch, while the device has nothing to wait for."""
    calls = host_calls()
    states = [torch.zeros(HOST_HIDDEN, device=DEVICE) for _ in range(64)]
    steps = [torch.ones((), device=DEVICE) for _ in range(64)]
    adam = dict(
        lr=1e-6, beta1=0.9, beta2=0.95, weight_decay=0.1, eps=1e-8, amsgrad=False, maximize=False
    )
    flash = SDPBackend.FLASH_ATTENTION if HAS_GPU else SDPBackend.MATH

    def case(name: str) -> None:
        work, operands = calls[name]
        with sdpa_kernel(flash):
            with torch.no_grad():
                plain = issued(lambda: work(*operands))
            leaves = [o.detach().clone().requires_grad_() for o in operands]
            recorded = issued(lambda: work(*leaves))

            def whole() -> None:
                out = work(*leaves)
                torch.autograd.backward(out, torch.ones_like(out))

            trained = issued(whole, 100)
        for timing, direction in ((plain, "forward, no autograd"), (recorded, "forward, autograd"),
                                  (trained, "forward and backward")):  # fmt: skip
            b.by_shape(
                "host_" + name,
                timing,
                "eager, time of the host",
                m=8,
                hidden=HOST_HIDDEN,
                direction=direction,
            )

    def optimizer() -> None:
        timing = issued(
            lambda: torch._fused_adamw_(states, states, states, states, [], steps, **adam), 50
        )
        b.by_shape("host_adamw", timing, "_fused_adamw_ of 64 tensors", direction="optimizer")

    def graph() -> None:
        x = torch.zeros(8, HOST_HIDDEN, device=DEVICE, dtype=BF16)
        recorded = torch.cuda.CUDAGraph()
        with torch.cuda.graph(recorded):
            for _ in range(100):
                x.add_(1)
        b.by_shape("host_graph_replay", issued(recorded.replay, 20), "graph of 100 kernels")

    for name in calls:
        yield lambda name=name: case(name)
    yield optimizer
    if HAS_GPU:
        yield graph


GROUPS = {
    each.__name__: each
    for each in (
        products, adapters, fp8, grouped, attention, ring, core, rows,
        compiled, loss, experts, updates, copies, host,
    )
}  # fmt: skip


def sample(b: Bench, group: str, limit_s: float) -> None:
    start, done, failed, before = time.perf_counter(), 0, {}, b.rows
    left = 0
    for case in GROUPS[group](b):
        if time.perf_counter() - start > limit_s:
            left += 1
            continue
        try:
            case()
            done += 1
        except Exception as error:
            reason = (
                f"{type(error).__name__}: {str(error).splitlines()[0][:160] if str(error) else ''}"
            )
            failed[reason] = failed.get(reason, 0) + 1
            if "illegal memory" in reason or "unspecified launch" in reason:
                print(f"{group}: {reason}", flush=True)
                sys.exit(3)
            if "out of memory" in reason:
                b.watch.fresh()
        if done % 100 == 99:
            b.watch.fresh()
    b.flush()
    taken = time.perf_counter() - start
    print(
        f"{group}: {done} cases, {b.rows - before} rows, {left} left out, {taken:.0f} s, "
        f"{b.watch.failures} not as graphs",
        flush=True,
    )
    for reason, count in failed.items():
        print(f"  {count} failed: {reason}", flush=True)


def main() -> None:
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    gc.disable()
    torch.manual_seed(1)
    torch._functorch.config.donated_buffer = False  # backwards are timed more than once
    torch._dynamo.config.cache_size_limit = 64
    bench = Bench(Path(sys.argv[1]), 16 if HAS_GPU else 0.05)
    print(bench.gpu, bench.software, f"limit {bench.nvml.limit_w()} W", flush=True)
    for each in sys.argv[2:]:
        group, _, seconds = each.partition(":")
        sample(bench, group, float(seconds or 1e9))


if __name__ == "__main__":
    main()

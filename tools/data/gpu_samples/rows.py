"""What works on each row by itself: norms, rotations, activations, losses, routers."""

import itertools
from collections.abc import Callable

import torch
import torch._dynamo
import torch.nn.functional as F  # noqa: N812
from gpu_samples.bench import (
    BF16,
    FP32,
    HIDDEN,
    TENSOR,
    TOKENS,
    Bench,
    Cases,
    drawn,
    padded_vocabulary,
)
from gpu_timing import DEVICE, HAS_GPU, instances


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

"""Attention: fused, by blocks of a ring, and written out."""

import itertools

import torch
import torch.nn.functional as F  # noqa: N812
from gpu_samples.bench import LONGEST_S, Bench, Cases, drawn
from gpu_timing import DEVICE, HAS_GPU, instances
from torch.nn.attention import SDPBackend, sdpa_kernel

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

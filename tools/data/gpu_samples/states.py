"""Model states and copies."""

import itertools

import torch
from gpu_samples.bench import BF16, FP32, Bench, Cases, drawn
from gpu_timing import DEVICE, HAS_GPU, Timing, instances


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

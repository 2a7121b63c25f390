"""What a launch costs the host."""

import time
from collections.abc import Callable

import torch
import torch.nn.functional as F  # noqa: N812
from gpu_samples.bench import BF16, Bench, Cases
from gpu_samples.rows import swiglu, unfused_rmsnorm
from gpu_timing import DEVICE, HAS_GPU, Timing
from torch.nn.attention import SDPBackend, sdpa_kernel

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

"""Times the operators of training steps on one GPU and writes tables that `stepwright fit` reads.

    python3 -B tools/data/sample_gpu.py OUT GROUP[:SECONDS]...

Groups: products adapters fp8 grouped attention ring core rows compiled loss experts updates copies
host. Writes two tables of docs/formats.md, "Samples": OUT/operators.csv, by model size, and
OUT/kernels.csv, by shape, which also has what no class of operators covers. Each call of a CUDA
graph has operands of its own, so that they come from memory; a time is the median over replays of
the graph, divided by its calls; `spread` is the distance of the outer tenths over the median. Cases
are drawn in one order; what SECONDS does not cover is left out. Without a GPU: toy sizes.
"""

import gc
import sys
import time
from pathlib import Path

import torch
import torch._dynamo
import torch._functorch.config
from gpu_samples.attention import attention, core, ring
from gpu_samples.bench import Bench
from gpu_samples.host import host
from gpu_samples.products import adapters, fp8, grouped, products
from gpu_samples.rows import compiled, experts, loss, rows
from gpu_samples.states import copies, updates
from gpu_timing import HAS_GPU

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

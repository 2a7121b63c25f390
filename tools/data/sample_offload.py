"""Trains with parameters and optimizer on the host: PyTorch's fully_shard on one GPU.

    python3 -B tools/data/sample_offload.py OUT [SECONDS]

The models of sample_runs.py with fp32 parameters, sharded by layer over one rank with
CPUOffloadPolicy: what a layer computes with is copied to the device before it and cast to bf16,
its gradients are copied back in fp32, AdamW runs on the host. Each run is followed by the same one
without a host. Writes OUT/offload.jsonl: what was trained, seconds of a step, of the optimizer and
peaks. Lines of a run that ends early stay beside, in OUT/offload.jsonl.part-*.
"""

import json
import statistics
import sys
import time
from dataclasses import asdict, replace
from pathlib import Path

import torch
import torch.distributed as dist
from torch.distributed.fsdp import (
    CPUOffloadPolicy,
    MixedPrecisionPolicy,
    OffloadPolicy,
    fully_shard,
)

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from files import replaced
from gpu_timing import DEVICE, HAS_GPU, Nvml, gpu_name, software
from sample_runs import BF16, FFN, KV_HEADS, Model, Run, state_of, synchronize

WARM_UP, FEWEST, MOST_S = 2, 4, 4.0


def sharded(run: Run, on_host: bool) -> Model:
    model = Model(run).float()
    options = {
        "mp_policy": MixedPrecisionPolicy(param_dtype=BF16, reduce_dtype=torch.float32),
        "offload_policy": CPUOffloadPolicy(pin_memory=HAS_GPU) if on_host else OffloadPolicy(),
    }
    for layer in model.layers:
        fully_shard(layer, **options)
    return fully_shard(model, **options)


def train(run: Run, on_host: bool, nvml: Nvml) -> dict:
    if HAS_GPU:
        torch.cuda.empty_cache()
    model = sharded(run, on_host)
    adam = torch.optim.AdamW(model.parameters(), lr=1e-5, fused=True)
    tokens = torch.randint(run.vocabulary, (run.micro_batch, run.length + 1), device=DEVICE)
    optimizer_s: list[float] = []

    def step() -> float:
        start = time.perf_counter()
        for i in range(run.micro_batches):
            model.set_requires_gradient_sync(i + 1 == run.micro_batches)
            (model(tokens[:, :-1], tokens[:, 1:]) / run.micro_batches).backward()
        synchronize()
        middle = time.perf_counter()
        adam.step()
        adam.zero_grad()
        synchronize()
        optimizer_s.append(time.perf_counter() - middle)
        return time.perf_counter() - start

    for _ in range(WARM_UP):
        step()
    if HAS_GPU:
        torch.cuda.reset_peak_memory_stats()
    seconds: list[float] = []
    while len(seconds) < FEWEST or (sum(seconds) < MOST_S and len(seconds) < 20):
        seconds.append(step())
    return {
        "seconds": statistics.median(seconds),
        "optimizer_s": statistics.median(optimizer_s[WARM_UP:]),
        "spread": (max(seconds) - min(seconds)) / statistics.median(seconds),
        "steps": len(seconds),
        **state_of(model, nvml),
        "host_threads": torch.get_num_threads(),
    }


def cases() -> list[tuple[Run, bool]]:
    if not HAS_GPU:
        KV_HEADS[128], FFN[128] = 1, 256
        return [(Run(128, 2, 1, 64), True), (Run(128, 2, 1, 64), False)]
    big, small = Run(4096, 8, 2, 4096), Run(2048, 16, 4, 2048)
    runs = [big, replace(big, micro_batch=4, recompute=True), small]
    runs += [replace(big, micro_batch=1, micro_batches=2), Run(4096, 16, 1, 4096, True)]
    return [(run, on_host) for run in runs for on_host in (True, False)]


def main() -> int:
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    give_up = time.monotonic() + float(sys.argv[2] if len(sys.argv) > 2 else 120)
    backend = "nccl" if HAS_GPU else "gloo"
    dist.init_process_group(backend, store=dist.HashStore(), rank=0, world_size=1)
    nvml = Nvml()
    with replaced(folder / "offload.jsonl", keep_part=True) as out:
        for run, on_host in cases():
            about = {"run": asdict(run), "on_host": on_host}
            if time.monotonic() > give_up:
                print("left out:", about)
                continue
            try:
                found = train(run, on_host, nvml)
            except Exception as error:
                print("failed:", about, repr(error)[:300], flush=True)
                continue
            line = {**about, **found, "gpu": gpu_name(), "software": software()}
            out.write(json.dumps(line) + "\n")
            out.flush()
            print(json.dumps(line), flush=True)
    dist.destroy_process_group()
    return 0


if __name__ == "__main__":
    sys.exit(main())

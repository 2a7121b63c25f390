"""Operands, the stopwatch and the two tables that cases write."""

import csv
import random
from collections.abc import Callable, Iterator
from pathlib import Path

import torch
from gpu_timing import HAS_GPU, Nvml, Pool, Stopwatch, Timing, gpu_name, software

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

"""The executor beside PyTorch: tokens per second of one model, in turns in one run on one machine.

    .venv/bin/python bench/executor_bench.py build/release/stepwright

One process against eager PyTorch; four ranks over Gloo: NNN against DistributedDataParallel, GGG
against FSDP2's fully_shard, tensor parallelism against parallelize_module. Prints a table; a ratio
above 1 means that the executor is faster.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import torch
import torch.distributed as dist
import torch.nn.functional as functional
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import Replicate, Shard
from torch.distributed.tensor.parallel import (
    ColwiseParallel,
    PrepareModuleInput,
    RowwiseParallel,
    SequenceParallel,
    parallelize_module,
)
from torch.nn.parallel import DistributedDataParallel


@dataclass
class Shape:
    """A Llama-like model and its batch."""

    layers: int = 4
    hidden: int = 512
    heads: int = 8
    ffn: int = 1408
    vocab: int = 512
    sequences: int = 8
    length: int = 256
    micro_batch: int = 2


SHAPE = Shape()
RANKS = 4
SEED = 1
BUCKET = 25 * 2**20 // 4  # elements, as DistributedDataParallel cuts gradients


def rotate(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    a, b = x.chunk(2, dim=-1)
    return x * cos + torch.cat((-b, a), dim=-1) * sin


class Attention(nn.Module):
    def __init__(self, s: Shape):
        super().__init__()
        self.width = s.hidden // s.heads
        self.q = nn.Linear(s.hidden, s.hidden, bias=False)
        self.k = nn.Linear(s.hidden, s.hidden, bias=False)
        self.v = nn.Linear(s.hidden, s.hidden, bias=False)
        self.o = nn.Linear(s.hidden, s.hidden, bias=False)

    def forward(self, x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
        def split(t: torch.Tensor) -> torch.Tensor:
            return t.unflatten(-1, (-1, self.width)).transpose(1, 2)

        q, k, v = split(self.q(x)), split(self.k(x)), split(self.v(x))
        q, k = rotate(q, cos, sin), rotate(k, cos, sin)
        y = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.o(y.transpose(1, 2).flatten(-2))


class Mlp(nn.Module):
    def __init__(self, s: Shape):
        super().__init__()
        self.gate = nn.Linear(s.hidden, s.ffn, bias=False)
        self.up = nn.Linear(s.hidden, s.ffn, bias=False)
        self.down = nn.Linear(s.ffn, s.hidden, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.down(functional.silu(self.gate(x)) * self.up(x))


class Layer(nn.Module):
    def __init__(self, s: Shape):
        super().__init__()
        self.norm1 = nn.RMSNorm(s.hidden, eps=1e-5)
        self.attention = Attention(s)
        self.norm2 = nn.RMSNorm(s.hidden, eps=1e-5)
        self.mlp = Mlp(s)

    def forward(self, x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
        x = x + self.attention(self.norm1(x), cos, sin)
        return x + self.mlp(self.norm2(x))


class Llama(nn.Module):
    def __init__(self, s: Shape):
        super().__init__()
        self.table = nn.Embedding(s.vocab, s.hidden)
        self.layers = nn.ModuleList(Layer(s) for _ in range(s.layers))
        self.norm = nn.RMSNorm(s.hidden, eps=1e-5)
        self.head = nn.Linear(s.hidden, s.vocab, bias=False)
        width = s.hidden // s.heads
        angles = torch.outer(
            torch.arange(s.length), 10000 ** (-torch.arange(0, width, 2) / width)
        ).repeat(1, 2)
        self.register_buffer("cos", angles.cos())
        self.register_buffer("sin", angles.sin())

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        x = self.table(tokens)
        for layer in self.layers:
            x = layer(x, self.cos, self.sin)
        return self.head(self.norm(x))


def parallelize_tensor(model: nn.Module) -> None:
    """Tensor and sequence parallelism as PyTorch's tutorial and torchtitan lay it out."""
    mesh = init_device_mesh("cpu", (RANKS,))
    rows, whole = Shard(1), Replicate()
    enter = PrepareModuleInput(input_layouts=(rows,), desired_input_layouts=(whole,))
    enter_attention = PrepareModuleInput(
        input_layouts=(rows, None, None), desired_input_layouts=(whole, None, None)
    )
    columns = ("attention.q", "attention.k", "attention.v", "mlp.gate", "mlp.up")
    plan = {name: ColwiseParallel() for name in columns}
    plan |= {name: RowwiseParallel(output_layouts=rows) for name in ("attention.o", "mlp.down")}
    plan |= {"norm1": SequenceParallel(), "norm2": SequenceParallel()}
    plan |= {"attention": enter_attention, "mlp": enter}
    for layer in model.layers:
        parallelize_module(layer, mesh, plan)
    parallelize_module(
        model,
        mesh,
        {
            "table": RowwiseParallel(input_layouts=whole, output_layouts=rows),
            "norm": SequenceParallel(),
            "head": ColwiseParallel(input_layouts=rows, output_layouts=whole),
        },
    )


def spread(model: nn.Module, kind: str) -> nn.Module:
    """The model as PyTorch's own parallelism of that kind runs it."""
    if kind == "NNN":
        return DistributedDataParallel(model)
    if kind == "GGG":
        for layer in model.layers:
            fully_shard(layer)
        return fully_shard(model)
    if kind == "tensor":
        parallelize_tensor(model)
    return model


def torch_steps(kind: str, steps: int) -> list[float]:
    """Seconds of each step of this rank."""
    s = SHAPE
    torch.manual_seed(SEED)
    model = spread(Llama(s), kind)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4, betas=(0.9, 0.95), fused=True)
    ways = RANKS if kind in ("NNN", "GGG") else 1
    tokens = torch.randint(0, 256, (s.sequences // ways, s.length + 1))
    pieces = tokens.split(s.micro_batch)
    times = []
    for _ in range(steps):
        begin = time.perf_counter()
        optimizer.zero_grad()
        for i, piece in enumerate(pieces):
            last = i + 1 == len(pieces)
            if kind == "NNN":
                model.require_backward_grad_sync = last
            logits = model(piece[:, :-1])
            targets = piece[:, 1:].flatten()
            loss = functional.cross_entropy(logits.flatten(0, 1), targets) / len(pieces)
            loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        float(loss.detach())
        times.append(time.perf_counter() - begin)
    return times


def torch_rank(kind: str, steps: int, out: str) -> None:
    if kind != "alone":
        dist.init_process_group("gloo")
    times = torch_steps(kind, steps)
    if int(os.environ.get("RANK", "0")) == 0:
        Path(out).write_text(json.dumps(times))
    if kind != "alone":
        dist.barrier()
        dist.destroy_process_group()


def plan_text(kind: str) -> str:
    s = SHAPE
    ranks = 1 if kind == "alone" else RANKS
    choices = {
        "alone": "",
        "NNN": f"parallel: {{data: {ranks}}}\nsharding: NNN\n",
        "GGG": f"parallel: {{data: {ranks}}}\nsharding: GGG\n",
        "tensor": f"parallel: {{tensor: {ranks}}}\nsequence_parallel: true\n",
    }[kind]
    return (
        "stepwright: plan/1\njob:\n"
        f"  model: {{layers: {s.layers}, hidden: {s.hidden}, heads: {s.heads}, ffn: {s.ffn}, "
        f"vocab: {s.vocab}}}\n"
        "  cluster: {name: here, device: {name: cpu, memory: 16e9, memory_bandwidth: 20e9, "
        f"peak: {{fp32: 1e11}}}}, devices_per_node: 4, devices: {ranks}, "
        "levels: [{name: bus, size: 4, bandwidth: 5e9}], nics_per_node: 1, nic: 5e9}\n"
        f"  batch: {{sequences: {s.sequences}, length: {s.length}}}\n"
        "  precision: fp32\n  optimizer: adamw\n"
        f"{choices}micro_batch: {s.micro_batch}\nbuckets: {{gradients: {BUCKET}}}\n"
    )


def stepwright_times(
    command: str, kind: str, steps: int, folder: Path, threads: int
) -> list[float]:
    (folder / "plan.yaml").write_text(plan_text(kind))
    text = folder / "text.txt"
    text.write_bytes(bytes(32 + (i * i + i // 7) % 90 for i in range(200_000)))
    metrics = folder / "metrics.jsonl"
    options = ["--data", text, "--steps", str(steps), "--metrics", metrics]
    subprocess.run(
        [command, "train", folder / "plan.yaml", *options],
        check=True,
        capture_output=True,
        env=os.environ | {"OMP_NUM_THREADS": str(threads)},
    )
    return [json.loads(line)["time_s"] for line in metrics.read_text().splitlines()]


def torch_times(kind: str, steps: int, folder: Path, threads: int) -> list[float]:
    out = folder / "times.json"
    own = [__file__, "--torch", kind, "--steps", str(steps), "--out", str(out)]
    launch = [sys.executable]
    if kind != "alone":
        launch = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", str(RANKS)]
    subprocess.run(
        launch + own,
        check=True,
        stdout=subprocess.DEVNULL,
        env=os.environ | {"OMP_NUM_THREADS": str(threads)},
    )
    return json.loads(out.read_text())


def compare(command: str, kind: str, rounds: int, steps: int) -> tuple[float, float]:
    """Median seconds of a step here and in PyTorch, in turns; a run's first steps warm it up."""
    threads = os.cpu_count() or 1 if kind == "alone" else 1
    ours, theirs = [], []
    with tempfile.TemporaryDirectory() as name:
        for _ in range(rounds):
            ours += stepwright_times(command, kind, steps, Path(name), threads)[2:]
            theirs += torch_times(kind, steps, Path(name), threads)[2:]
    return statistics.median(ours), statistics.median(theirs)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("command", nargs="?", help="build/release/stepwright")
    parser.add_argument("--torch", help="internal: one rank of PyTorch")
    parser.add_argument("--out", help="internal")
    parser.add_argument("--steps", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--kinds", nargs="+", default=["alone", "NNN", "GGG", "tensor"])
    options = parser.parse_args()
    if options.torch:
        torch_rank(options.torch, options.steps, options.out)
        return
    tokens = SHAPE.sequences * SHAPE.length
    print("| | Stepwright, tokens/s | PyTorch, tokens/s | ratio |\n|---|---|---|---|")
    for kind in options.kinds:
        ours, theirs = compare(options.command, kind, options.rounds, options.steps)
        print(f"| {kind} | {tokens / ours:.0f} | {tokens / theirs:.0f} | {theirs / ours:.2f} |")


if __name__ == "__main__":
    main()

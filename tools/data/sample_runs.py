"""Trains Llama-like models in plain PyTorch on one GPU and writes what steps take and hold.

    python3 -B tools/data/sample_runs.py OUT [SECONDS]

Writes OUT/own_runs.csv and OUT/own_memory.csv with the columns of data/training_runs.csv and
data/memory.csv. Parameters and activations are bf16; gradients are summed in fp32 after each
micro-batch, and AdamW (one fused kernel) works on fp32 copies: 18 bytes a parameter, as frameworks
of mixed precision have them. Norms are F.rms_norm, attention is SDPA's flash kernel, the loss is
F.cross_entropy on fp32 logits; `compiled` compiles each layer and the loss. A step's time is the
median of those after the third, host included. Without a GPU: toy sizes.
Rows of a run that ends early stay beside the tables, in OUT/*.part-*.
"""

import contextlib
import csv
import gc
import statistics
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import torch
import torch.nn.functional as F  # noqa: N812
from torch import nn
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.checkpoint import checkpoint

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from files import replaced
from gpu_timing import DEVICE, HAS_GPU, Nvml, gpu_name, software
from row_words import rewrite

BF16 = torch.bfloat16
# What was run, in the words of both tables.
SETTING = [
    "framework",
    "model",
    "params_b",
    "layers",
    "hidden",
    "heads",
    "kv_heads",
    "ffn_hidden",
    "vocab",
    "seq_len",
    "moe",
    "precision",
    "global_batch",
    "micro_batch",
    "tp",
    "pp",
    "vpp",
    "cp",
    "ep",
    "dp",
    "sp",
    "zero_stage_or_fsdp",
    "recompute",
    "overlap_notes",
]
SOURCE = ["id", "source_url", "source_note", "year", "gpu", "gpus"]
RUNS = [
    *SOURCE,
    "gpus_per_node",
    "intra_node_bw_note",
    "inter_node_net_note",
    *SETTING,
    "measured_metric",
    "measured_value",
    "memory_gib",
    "flop_convention",
    "tier",
    "missing",
    "flags",
]
MEMORY = [
    *SOURCE,
    *SETTING,
    "memory_kind",
    "memory_value_gib",
]
WARM_UP, FEWEST, MOST_S = 3, 4, 2.0
KV_HEADS = {1024: 8, 2048: 4, 4096: 8}
FFN = {1024: 2816, 2048: 8192, 4096: 14336}


@dataclass(frozen=True)
class Run:
    """What is trained, and how."""

    hidden: int
    layers: int
    micro_batch: int
    length: int
    recompute: bool = False
    micro_batches: int = 1
    compiled: bool = False
    vocabulary: int = 32000
    repeat: int = 0

    @property
    def heads(self) -> int:
        return self.hidden // 128

    @property
    def ffn(self) -> int:
        return FFN[self.hidden]

    @property
    def kv_heads(self) -> int:
        return KV_HEADS[self.hidden]


def runs() -> list[Run]:
    """The most telling first."""
    if not HAS_GPU:
        KV_HEADS[128], FFN[128] = 1, 256
        return [Run(128, 2, 1, 64), Run(128, 2, 2, 64, True, 2), Run(128, 2, 1, 64, compiled=True)]
    found = []
    for h in (4096, 2048, 1024):
        found += [
            Run(h, 8, 2, 2048),
            Run(h, 8, 2, 4096),
            Run(h, 8, 4, 2048, True),
            Run(h, 4, 1, 1024),
        ]
        found += [Run(h, 8, 1, 2048, False, 4), Run(h, 8, 1, 2048), Run(h, 8, 4, 2048)]
        found += [
            Run(h, 8, 1, 8192),
            Run(h, 16 if h < 4096 else 12, 2, 2048),
            Run(h, 8, 4, 1024, False, 4),
        ]
    found += [Run(h, 8, 2, 2048, compiled=True) for h in (4096, 2048, 1024)]
    for h in (4096, 2048, 1024):
        found += [
            Run(h, 4, 2, 2048),
            Run(h, 8, 2, 8192, True),
            Run(h, 8, 2, 1024),
            Run(h, 8, 8, 2048),
        ]
        found += [
            Run(h, 16, 2, 4096, True),
            Run(h, 8, 8, 1024),
            Run(h, 4, 8, 4096),
            Run(h, 16, 1, 1024),
        ]
    found += [Run(h, 8, 1, 8192, compiled=True) for h in (4096, 2048)]
    found += [Run(h, 8, 2, 2048, vocabulary=128256) for h in (2048, 4096)]
    found += [Run(h, 16 if h < 4096 else 8, 4, 2048, compiled=True) for h in (1024, 2048)]
    found += [Run(1024, 16, 8, 4096), Run(2048, 16, 4, 4096), Run(1024, 16, 2, 8192, False, 4)]
    found += [Run(2048, 8, 2, 2048, True, compiled=True), Run(4096, 8, 8, 4096, True)]
    found += [Run(4096, 16, 8, 8192), Run(4096, 24, 1, 1024), Run(2048, 8, 2, 2048, repeat=1)]
    found += [Run(4096, 8, 2, 4096, repeat=1), Run(1024, 8, 2, 2048, repeat=1)]
    return list(dict.fromkeys(found))


class Layer(nn.Module):
    def __init__(self, run: Run) -> None:
        super().__init__()
        h, d = run.hidden, 128
        options = {"bias": False, "device": DEVICE, "dtype": BF16}
        self.heads, self.kv_heads = run.heads, run.kv_heads
        self.qkv = nn.Linear(h, (run.heads + 2 * run.kv_heads) * d, **options)
        self.out = nn.Linear(h, h, **options)
        self.up = nn.Linear(h, 2 * run.ffn, **options)
        self.down = nn.Linear(run.ffn, h, **options)
        self.norms = nn.ParameterList(torch.ones(h, device=DEVICE, dtype=BF16) for _ in "ab")

    def rotate(self, x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
        half = x.shape[-1] // 2
        turned = torch.cat((-x[..., half:], x[..., :half]), dim=-1)
        return (x * cos + turned * sin).transpose(1, 2)

    def forward(self, x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
        batch, length, h = x.shape
        rows = self.qkv(F.rms_norm(x, (h,), self.norms[0])).view(batch, length, -1, 128)
        q, k, v = rows.split([self.heads, self.kv_heads, self.kv_heads], dim=2)
        q, k = self.rotate(q, cos, sin), self.rotate(k, cos, sin)
        y = F.scaled_dot_product_attention(
            q, k, v.transpose(1, 2), is_causal=True, enable_gqa=self.heads != self.kv_heads
        )
        x = x + self.out(y.transpose(1, 2).reshape(batch, length, h))
        gate, up = self.up(F.rms_norm(x, (h,), self.norms[1])).chunk(2, -1)
        return x + self.down(F.silu(gate) * up)


def loss_of(logits: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    return F.cross_entropy(logits.float().view(-1, logits.shape[-1]), targets.reshape(-1))


class Model(nn.Module):
    def __init__(self, run: Run) -> None:
        super().__init__()
        h = run.hidden
        self.recompute = run.recompute
        self.embedding = nn.Embedding(run.vocabulary, h, device=DEVICE, dtype=BF16)
        self.layers = nn.ModuleList(Layer(run) for _ in range(run.layers))
        self.norm = nn.Parameter(torch.ones(h, device=DEVICE, dtype=BF16))
        self.head = nn.Linear(h, run.vocabulary, bias=False, device=DEVICE, dtype=BF16)
        turns = torch.outer(
            torch.arange(run.length, device=DEVICE).float(),
            10000.0 ** (-torch.arange(0, 128, 2, device=DEVICE).float() / 128),
        )
        turns = torch.cat((turns, turns), dim=-1)[:, None, :]
        self.cos, self.sin = turns.cos().to(BF16), turns.sin().to(BF16)
        self.loss = loss_of
        if run.compiled:
            self.loss = torch.compile(loss_of)
            for layer in self.layers:
                layer.compile()

    def forward(self, tokens: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        x = self.embedding(tokens)
        for layer in self.layers:
            if self.recompute:
                x = checkpoint(layer, x, self.cos, self.sin, use_reentrant=False)
            else:
                x = layer(x, self.cos, self.sin)
        x = F.rms_norm(x, x.shape[-1:], self.norm)
        return self.loss(self.head(x), targets)


class States:
    """fp32 copies, sums of gradients and moments."""

    def __init__(self, model: nn.Module) -> None:
        self.weights = list(model.parameters())
        self.masters = [p.detach().float() for p in self.weights]
        for master in self.masters:
            master.grad = torch.zeros_like(master)
        self.adam = torch.optim.AdamW(self.masters, lr=1e-5, fused=True)

        def add(index: int):
            def hook(p: torch.Tensor) -> None:
                self.masters[index].grad.add_(p.grad)
                p.grad = None

            return hook

        self.hooks = [
            p.register_post_accumulate_grad_hook(add(i)) for i, p in enumerate(self.weights)
        ]

    def close(self) -> None:
        """Ends the circle of weights and hooks, which the collector does not see."""
        for hook in self.hooks:
            hook.remove()
        for p in (*self.weights, *self.masters):
            p.grad = None
        self.hooks, self.weights, self.masters, self.adam = [], [], [], None

    @torch.no_grad()
    def step(self) -> None:
        self.adam.step()
        torch._foreach_copy_(self.weights, self.masters)
        torch._foreach_zero_([m.grad for m in self.masters])


def synchronize() -> None:
    if HAS_GPU:
        torch.cuda.synchronize()


def train(run: Run, nvml: Nvml) -> dict:
    """Seconds of a step and peaks in bytes."""
    if HAS_GPU:
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()
    model = Model(run)
    states = States(model)
    try:
        return measure(run, model, states, nvml)
    finally:
        states.close()


def measure(run: Run, model: Model, states: States, nvml: Nvml) -> dict:
    tokens = torch.randint(run.vocabulary, (run.micro_batch, run.length + 1), device=DEVICE)

    def step() -> float:
        start = time.perf_counter()
        for _ in range(run.micro_batches):
            (model(tokens[:, :-1], tokens[:, 1:]) / run.micro_batches).backward()
        states.step()
        synchronize()
        return time.perf_counter() - start

    for _ in range(WARM_UP):
        step()
    seconds: list[float] = []
    while len(seconds) < FEWEST or (sum(seconds) < MOST_S and len(seconds) < 30):
        seconds.append(step())
    ordered = sorted(seconds)
    return {
        "seconds": statistics.median(ordered),
        "spread": (ordered[-1] - ordered[0]) / statistics.median(ordered),
        "steps": len(ordered),
        **state_of(model, nvml),
    }


def state_of(model: nn.Module, nvml: Nvml) -> dict:
    """What is there after the steps: parameters, peaks in bytes, the clock."""
    return {
        "parameters": sum(p.numel() for p in model.parameters()),
        "allocated": torch.cuda.max_memory_allocated() if HAS_GPU else 1,
        "reserved": torch.cuda.max_memory_reserved() if HAS_GPU else 1,
        "used": nvml.used_bytes() or 1,
        "clock": nvml.clock_mhz(),
    }


def sizes(run: Run) -> dict:
    """Of the model and its batch, as the columns of a table."""
    return {
        "layers": run.layers,
        "hidden": run.hidden,
        "heads": run.heads,
        "kv_heads": run.kv_heads,
        "ffn_hidden": run.ffn,
        "vocab": run.vocabulary,
        "seq_len": run.length,
        "precision": "bf16",
        "global_batch": run.micro_batch * run.micro_batches,
        "micro_batch": run.micro_batch,
        **dict.fromkeys(("tp", "pp", "vpp", "cp", "ep", "dp"), 1),
        "sp": "n",
        "recompute": "full" if run.recompute else "none",
    }


def common(run: Run, name: str, parameters: int | None) -> dict:
    how = "torch.compile of layers and loss" if run.compiled else "eager"
    note = "measured by this project with tools/data/sample_runs.py on one GPU"
    return {
        "id": name,
        "source_note": f"{note}; {software()}; {how}",
        "year": 2026,
        "gpu": gpu_name(),
        "gpus": 1,
        "framework": f"plain PyTorch {torch.__version__}, {how} (stack as FSDP on one GPU)",
        "model": f"LLaMA-like {run.hidden}x{run.layers}",
        "params_b": f"{parameters / 1e9:.4f}" if parameters else "",
        **sizes(run),
        "zero_stage_or_fsdp": "none",
        "overlap_notes": f"flash_attention2; {how}; fp32 grad sums",
    }


class Tables:
    """The table of times and that of memory."""

    def __init__(self, files: list[IO[str]]) -> None:
        self.files = files
        self.timed = csv.DictWriter(self.files[0], RUNS, lineterminator="\n")
        self.held = csv.DictWriter(self.files[1], MEMORY, lineterminator="\n")
        self.timed.writeheader()
        self.held.writeheader()

    def add_too_large(self, run: Run, number: int) -> None:
        kind = "OOM_lower_bound_80GB"
        row = common(run, f"own_h100-{number:04}", None)
        self.held.writerow({**row, "memory_kind": kind})

    def add(self, run: Run, number: int, result: dict) -> None:
        row = common(run, f"own_h100-{number:04}", result["parameters"])
        row["source_note"] += f"; {result['steps']} steps, spread {result['spread']:.3f}"
        row["source_note"] += f", SM {result['clock']} MHz"
        self.timed.writerow(
            {
                **row,
                "gpus_per_node": 8,
                "measured_metric": "iteration_time_s",
                "measured_value": f"{result['seconds']:.6g}",
                "memory_gib": f"{result['allocated'] / 2**30:.3f}",
                "tier": "A",
            }
        )
        kinds = {
            "allocated": "torch max_memory_allocated",
            "reserved": "torch max_memory_reserved",
            "used": "nvidia-smi used",
        }
        for short, kind in kinds.items():
            value = result[short]
            of_kind = {"memory_kind": kind, "memory_value_gib": f"{value / 2**30:.3f}"}
            self.held.writerow({**row, "id": f"own_h100_{short}-{number:04}", **of_kind})
        self.flush()

    def flush(self) -> None:
        for file in self.files:
            file.flush()


def sample(run: Run, number: int, nvml: Nvml, tables: Tables) -> str:
    """Trains once and adds what it took to the tables. Returns how it went."""
    try:
        with sdpa_kernel(SDPBackend.FLASH_ATTENTION if HAS_GPU else SDPBackend.MATH):
            result = train(run, nvml)
    except torch.OutOfMemoryError:
        tables.add_too_large(run, number)
        return "out of memory"
    except Exception as error:
        return f"{type(error).__name__}: {str(error)[:300]}"
    tables.add(run, number, result)
    return f"{result['seconds'] * 1e3:.1f} ms, {result['allocated'] / 2**30:.1f} GiB"


def main() -> None:
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    limit_s = float(sys.argv[2]) if len(sys.argv) > 2 else 1e9
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"own_{name}.csv" for name in ("runs", "memory")]
    with contextlib.ExitStack() as open_files:
        files = [open_files.enter_context(replaced(path, keep_part=True)) for path in paths]
        sample_all(Tables(files), limit_s)
    for path in paths:
        rewrite(path)


def sample_all(tables: Tables, limit_s: float) -> None:
    """Adds all runs to the tables that begin within `limit_s` seconds."""
    nvml = Nvml()
    begun = time.perf_counter()
    before = nvml.used_bytes()
    print(gpu_name(), software(), f"{before / 2**20:.0f} MiB used at first", flush=True)
    for number, run in enumerate(runs(), 1):
        taken = time.perf_counter() - begun
        if taken > limit_s:
            print(f"left out: {run}", flush=True)
            continue
        print(f"{taken:.0f} s {run}: {sample(run, number, nvml, tables)}", flush=True)
        clean()


def clean() -> None:
    gc.collect()
    if HAS_GPU:
        torch.cuda.empty_cache()
    torch._dynamo.reset()


if __name__ == "__main__":
    main()

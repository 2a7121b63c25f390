"""Trains with adapters and with packed documents in plain PyTorch on one GPU.

    python3 -B tools/data/sample_tuning.py OUT [SECONDS]

The models and the loop of sample_runs.py; low-rank adapters beside frozen products (both factors in
bf16, fp32 sums and AdamW for them alone), attention within documents (torch.nn.attention.varlen).
Writes OUT/tuning.jsonl: what was trained, seconds of a step and peaks in bytes. Lines of a run that
ends early stay beside, in OUT/tuning.jsonl.part-*.
"""

import json
import sys
import time
from dataclasses import asdict, replace
from pathlib import Path
from types import SimpleNamespace

import torch
import torch.nn.functional as F  # noqa: N812
from torch import nn

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from files import replaced
from gpu_timing import DEVICE, HAS_GPU, Nvml, gpu_name, software
from sample_runs import BF16, FFN, KV_HEADS, Layer, Model, Run, States, measure
from sample_scans import documents

PARTS = {"all": ("qkv", "out", "up", "down"), "attention": ("qkv", "out")}


class Adapted(nn.Module):
    """A frozen product with B A of a rank beside it."""

    def __init__(self, base: nn.Linear, rank: int) -> None:
        super().__init__()
        self.base = base.requires_grad_(False)
        options = {"bias": False, "device": DEVICE, "dtype": BF16}
        self.a = nn.Linear(base.in_features, rank, **options)
        self.b = nn.Linear(rank, base.out_features, **options)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.base(x) + 2 * self.b(self.a(x))


def adapt(model: Model, rank: int, parts: str) -> None:
    model.requires_grad_(False)
    for layer in model.layers:
        for name in PARTS[parts]:
            setattr(layer, name, Adapted(getattr(layer, name), rank))


def pack(model: Model, lengths: list[int]) -> None:
    from torch.nn.attention.varlen import varlen_attn

    starts = torch.tensor([0, *lengths], device=DEVICE).cumsum(0).to(torch.int32)
    longest = max(lengths)

    def forward(self: Layer, x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
        batch, length, h = x.shape
        rows = self.qkv(F.rms_norm(x, (h,), self.norms[0])).view(batch, length, -1, 128)
        q, k, v = rows.split([self.heads, self.kv_heads, self.kv_heads], dim=2)
        q, k = self.rotate(q, cos, sin), self.rotate(k, cos, sin)
        q, k = (t.transpose(1, 2).reshape(batch * length, -1, 128) for t in (q, k))
        v = v.reshape(batch * length, -1, 128)
        more = self.heads // self.kv_heads
        k, v = k.repeat_interleave(more, 1), v.repeat_interleave(more, 1)
        y = varlen_attn(q, k, v, starts, starts, longest, longest, window_size=(-1, 0))
        x = x + self.out(y.reshape(batch, length, h))
        gate, up = self.up(F.rms_norm(x, (h,), self.norms[1])).chunk(2, -1)
        return x + self.down(F.silu(gate) * up)

    for layer in model.layers:
        layer.forward = forward.__get__(layer)


def train(run: Run, rank: int, parts: str, kind: str, nvml: Nvml) -> dict:
    if HAS_GPU:
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()
    model = Model(run)
    lengths: list[int] = []
    if rank:
        adapt(model, rank, parts)
    if kind:
        lengths = [run.length] if kind == "one" else documents(run.length, kind)
        pack(model, lengths)
    trained = [p for p in model.parameters() if p.requires_grad]
    states = States(SimpleNamespace(parameters=lambda: trained))
    try:
        found = measure(run, model, states, nvml)
        return {**found, "trained": sum(p.numel() for p in trained), "lengths": lengths}
    finally:
        states.close()


def cases() -> list[tuple[Run, int, str, str]]:
    """Run, rank and parts of adapters, documents; the most telling first."""
    if not HAS_GPU:
        KV_HEADS[128], FFN[128] = 1, 256
        toy = Run(128, 2, 1, 64)
        return [(toy, 0, "", ""), (toy, 8, "all", ""), (toy, 8, "attention", "")]
    big, small = Run(4096, 8, 2, 4096), Run(2048, 8, 4, 2048)
    whole = replace(big, recompute=True)
    adapted = [(big, 16, "all"), (big, 16, "attention"), (whole, 16, "all"), (big, 64, "all")]
    adapted += [(big, 0, ""), (whole, 0, ""), (small, 0, ""), (small, 16, "all")]
    adapted += [(replace(small, recompute=True), 16, "attention"), (big, 8, "attention")]
    adapted += [(Run(4096, 8, 8, 1024), 16, "all"), (Run(4096, 16, 1, 2048), 16, "all")]
    adapted += [(Run(4096, 8, 4, 2048, True), 64, "attention")]
    long, longer, longest = Run(4096, 8, 1, 8192), Run(2048, 8, 1, 16384), Run(1024, 16, 1, 32768)
    kinds = ("one", "equal", "short", "long")
    packs = [(run, 0, "", kind) for run in (long, longer) for kind in kinds]
    packs += [(long, 16, "all", "short"), (replace(long, recompute=True), 0, "", "long")]
    packs += [(longest, 0, "", "long"), (longest, 0, "", "one")]
    return [(*case, "") for case in adapted] + packs


def main() -> int:
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    give_up = time.monotonic() + float(sys.argv[2] if len(sys.argv) > 2 else 120)
    nvml = Nvml()
    with replaced(folder / "tuning.jsonl", keep_part=True) as out:
        for run, rank, parts, kind in cases():
            about = {
                "run": asdict(run),
                "rank": rank,
                "parts": parts,
                "documents": kind,
            }
            if time.monotonic() > give_up:
                print("left out:", about)
                continue
            try:
                found = train(run, rank, parts, kind, nvml)
            except Exception as error:
                print("failed:", about, repr(error)[:300], flush=True)
                continue
            line = {**about, **found, "gpu": gpu_name(), "software": software()}
            out.write(json.dumps(line) + "\n")
            out.flush()
            print(json.dumps({k: v for k, v in line.items() if k != "lengths"}), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())

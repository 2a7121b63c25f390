"""Counts the memory of training steps of real frameworks, at full size and without a GPU.

    python3 -B tools/judges/framework_memory.py OUT.csv [CASES [SEED]]

Programs of the frameworks run one step as one rank of many: tensors are fake (FakeTensorMode: sizes
and lifetimes without contents), collectives send nothing (PyTorch's "fake" process group), and
torch.distributed._tools.mem_tracker.MemTracker counts what is allocated, by kind. Models and plans
are random draws. OUT is a table of measurements (docs/formats.md) that `stepwright validate` reads,
with what each kind has at the peak and what stands after the step. Host-only costs of a device
(context, workspaces of libraries, the cache of the allocator) are not in it.
"""

from __future__ import annotations

import csv
import random
import sys
import types
from dataclasses import dataclass
from pathlib import Path

import accelerate
import torch
import torch.distributed as dist
import transformers
from accelerate.utils import fsdp_utils
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.distributed._tools.mem_tracker import MemTracker
from torch.distributed.device_mesh import DeviceMesh
from torch.distributed.fsdp import FSDPModule, MixedPrecisionPolicy
from torch.testing._internal.distributed.fake_pg import FakeStore

GIB = 2**30
KINDS = {
    "Parameter": "parameters_gib",
    "Gradient": "gradients_gib",
    "Activation": "activations_gib",
    "Optstate": "optimizer_gib",
    "Temp": "temporary_gib",
}
DENSE = {"llama": transformers.LlamaConfig, "qwen3": transformers.Qwen3Config}


@dataclass(frozen=True)
class Case:
    """A drawn model and plan."""

    family: str
    hidden: int
    layers: int
    heads: int
    kv_heads: int
    ffn: int
    vocab: int
    tied: bool
    experts: int
    top_k: int
    length: int
    micro_batch: int
    ranks: int
    checkpointing: bool


def draw(dice: random.Random, place: int) -> Case:
    """A case; every second one is a mixture of experts."""
    hidden = dice.choice([1024, 2048, 3072, 4096])
    heads = hidden // 128
    routed = place % 2 == 1
    ffn = dice.choice([512, 768, 1024]) if routed else hidden * dice.choice([3, 4])
    return Case(
        family="qwen3_moe" if routed else dice.choice(sorted(DENSE)),
        hidden=hidden,
        layers=dice.randint(3, 8),
        heads=heads,
        kv_heads=dice.choice([n for n in (2, 4, 8) if n <= heads]),
        ffn=ffn,
        vocab=dice.choice([32000, 64000, 128256, 151936]),
        tied=dice.random() < 0.3,
        experts=dice.choice([16, 32, 64]) if routed else 0,
        top_k=dice.choice([2, 4, 8]) if routed else 0,
        length=dice.choice([1024, 2048, 4096, 8192]),
        micro_batch=dice.choice([1, 2, 4]),
        ranks=dice.choice([2, 4, 8, 16]),
        checkpointing=dice.random() < 0.5,
    )


def config_of(case: Case) -> transformers.PretrainedConfig:
    sizes = {
        "hidden_size": case.hidden,
        "num_hidden_layers": case.layers,
        "num_attention_heads": case.heads,
        "num_key_value_heads": case.kv_heads,
        "head_dim": 128,
        "vocab_size": case.vocab,
        "tie_word_embeddings": case.tied,
        "max_position_embeddings": 16384,
        "use_cache": False,
    }
    if case.experts == 0:
        return DENSE[case.family](intermediate_size=case.ffn, **sizes)
    return transformers.Qwen3MoeConfig(
        moe_intermediate_size=case.ffn,
        intermediate_size=case.ffn,
        num_experts=case.experts,
        num_experts_per_tok=case.top_k,
        norm_topk_prob=True,
        mlp_only_layers=[],
        decoder_sparse_step=1,
        **sizes,
    )


def split(model: torch.nn.Module, mesh: DeviceMesh) -> torch.nn.Module:
    """The model as accelerate prepares it for FSDP2 with bf16."""
    plugin = accelerate.FullyShardedDataParallelPlugin(
        fsdp_version=2,
        reshard_after_forward=True,
        auto_wrap_policy="transformer_based_wrap",
        cpu_ram_efficient_loading=False,
    )
    plugin.mixed_precision_policy = MixedPrecisionPolicy(
        param_dtype=torch.bfloat16, reduce_dtype=torch.bfloat16, output_dtype=None
    )
    state = types.SimpleNamespace(fsdp_plugin=plugin)
    config = types.SimpleNamespace(fsdp_dim_names=["dp"])
    accelerator = types.SimpleNamespace(
        state=state,
        mixed_precision="bf16",
        is_main_process=False,
        device=torch.device("cpu"),
        torch_device_mesh=mesh,
        parallelism_config=config,
    )
    prepared = fsdp_utils.fsdp2_prepare_model(accelerator, model)
    assert isinstance(prepared, FSDPModule)
    return prepared


def step(model: torch.nn.Module, optimizer: torch.optim.Optimizer, case: Case) -> None:
    """One step as transformers' Trainer takes it: the model's outputs are let go of before the
    backward, gradients after the update."""
    tokens = torch.randint(0, case.vocab, (case.micro_batch, case.length))
    with torch.autocast("cpu", dtype=torch.bfloat16):
        loss = model(input_ids=tokens, labels=tokens).loss
    loss.backward()
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)


def measured(case: Case) -> dict[str, float]:
    """GiB at the peak and after the step, by kind."""
    dist.init_process_group("fake", rank=0, world_size=case.ranks, store=FakeStore())
    try:
        mesh = dist.init_device_mesh("cpu", (case.ranks,), mesh_dim_names=("dp",))
        with FakeTensorMode(allow_non_fake_inputs=True):
            config = config_of(case)
            model = transformers.AutoModelForCausalLM.from_config(config, dtype=torch.float32)
            if case.checkpointing:
                model.activation_checkpointing_enable()
            model.train()
            model = split(model, mesh)
            optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
            step(model, optimizer, case)
            tracker = MemTracker()
            tracker.track_external(model, optimizer)
            with tracker:
                step(model, optimizer, case)
            peak = tracker.get_tracker_snapshot("peak")[torch.device("cpu")]
            after = tracker.get_tracker_snapshot("current")[torch.device("cpu")]
    finally:
        dist.destroy_process_group()
    found = {column: 0.0 for column in KINDS.values()}
    found |= {column: peak[kind] / GIB for kind, column in by_kind(peak).items()}
    return found | {"memory_value_gib": peak["Total"] / GIB, "after_step_gib": after["Total"] / GIB}


def by_kind(snapshot: dict) -> dict:
    """The keys of a snapshot whose kinds have a column."""
    named = {getattr(key, "value", key): key for key in snapshot}
    return {named[kind]: column for kind, column in KINDS.items() if kind in named}


def row_of(case: Case, place: int, found: dict[str, float]) -> dict[str, object]:
    """The case in the words of a table of measurements."""
    model = f"{{head_dim: 128, tied: {str(case.tied).lower()}"
    if case.family != "llama":
        model += ", qk_norm: head"
    if case.experts:
        model += f", experts: {{count: {case.experts}, top_k: {case.top_k}, ffn: {case.ffn}}}"
    note = (
        f"measured by this project with tools/judges/framework_memory.py on fake tensors; "
        f"transformers {transformers.__version__}, accelerate {accelerate.__version__}, "
        f"PyTorch {torch.__version__}"
    )
    return {
        "id": f"transformers_fsdp2-{place:04}",
        "source_note": note,
        "model": f"{case.family} {case.hidden}x{case.layers}",
        "gpus": case.ranks,
        "layers": case.layers,
        "hidden": case.hidden,
        "heads": case.heads,
        "kv_heads": case.kv_heads,
        "ffn_hidden": case.ffn,
        "vocab": case.vocab,
        "seq_len": case.length,
        "global_batch": case.ranks * case.micro_batch,
        "micro_batch": case.micro_batch,
        "tp": 1,
        "pp": 1,
        "vpp": 1,
        "cp": 1,
        "ep": 1,
        "job": f"{{model: {model}}}, cluster: {{profile: dgx-h100}}, "
        "framework: accelerate, precision: bf16, optimizer: adamw, kernels: {attention: flash2}}",
        "plan": f"{{sharding: GGG, recompute: {'full' if case.checkpointing else 'none'}}}",
        "memory_kind": "MemTracker, the peak of the second step",
        "peak": "allocated",
    } | {key: f"{value:.4f}" for key, value in found.items()}


def main() -> None:
    out = Path(sys.argv[1])
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 15
    dice = random.Random(int(sys.argv[3]) if len(sys.argv) > 3 else 1)
    with out.open("w", newline="") as file:
        writer = None
        for place in range(count):
            case = draw(dice, place)
            row = row_of(case, place, measured(case))
            if writer is None:
                writer = csv.DictWriter(file, list(row), restval="0", lineterminator="\n")
                writer.writeheader()
            writer.writerow(row)
            file.flush()


if __name__ == "__main__":
    main()

"""transformers' models, as Trainer with accelerate's FSDP2 or DDP, TRL's SFTTrainer and PEFT run
them.

Fake tensors on the CPU differ from tensors on a device in two ways. transformers takes them for a
trace and makes masks of packed sequences for them (`unpacked`). TRL's tiles of logits are folded by
kernels of Triton, which allocate nothing, and by operators of PyTorch on a CPU
(trl/kernels/chunked_logprob.py, _forward_tile, _backward_tile and _addmm_fp32): these do nothing
here. The reducer of DistributedDataParallel reads contents, and is not run: its buckets, which
stand for as long as the model does, are counted as one tensor (`buckets`).
"""

from __future__ import annotations

import random
import types
from dataclasses import dataclass
from unittest import mock

import accelerate
import peft
import torch
import torch.distributed as dist
import transformers
from accelerate.utils import fsdp_utils
from memory_programs.counted import count_step, fake_ranks, fake_tensors, make_states
from memory_programs.drawn import Batch, Model, columns_of, draw_batch, draw_model
from torch.distributed.device_mesh import DeviceMesh
from torch.distributed.fsdp import FSDPModule, MixedPrecisionPolicy
from transformers import masking_utils

DENSE = {"llama": transformers.LlamaConfig, "qwen3": transformers.Qwen3Config}
VERSIONS = (
    f"transformers {transformers.__version__}, accelerate {accelerate.__version__}, "
    f"PEFT {peft.__version__}"
)


@dataclass(frozen=True)
class Case:
    """A drawn model and plan."""

    model: Model
    batch: Batch
    checkpointing: bool
    parallel: str  # `ddp`: whole states on each rank; `fsdp2`
    reshards: bool
    loss: str  # `model`: transformers' own; `trl`: of SFTTrainer
    adapter_rank: int  # 0: all weights are trained


def draw(dice: random.Random, place: int) -> Case:
    """A case; every second one is a mixture of experts. Autocast leaves grouped products in the
    type of their weights, which are in fp32 under DDP where all are trained: such mixtures have
    none (transformers 5.23.0 integrations/moe.py, _grouped_mm)."""
    model = draw_model(dice, place % 2 == 1)
    adapter_rank = dice.choice([0, 0, 16, 64])
    whole_mixture = model.experts > 0 and adapter_rank == 0
    return Case(
        model=model,
        batch=draw_batch(dice),
        checkpointing=dice.random() < 0.5,
        parallel="fsdp2" if whole_mixture else dice.choice(["fsdp2", "fsdp2", "ddp"]),
        reshards=dice.random() < 0.75,
        loss=dice.choice(["model", "model", "trl"]),
        adapter_rank=adapter_rank,
    )


def config_of(model: Model) -> transformers.PretrainedConfig:
    sizes = {
        "hidden_size": model.hidden,
        "num_hidden_layers": model.layers,
        "num_attention_heads": model.heads,
        "num_key_value_heads": model.kv_heads,
        "head_dim": 128,
        "vocab_size": model.vocab,
        "tie_word_embeddings": False,
        "max_position_embeddings": 16384,
        "use_cache": False,
    }
    if model.experts == 0:
        return DENSE[model.family](intermediate_size=model.ffn, **sizes)
    return transformers.Qwen3MoeConfig(
        moe_intermediate_size=model.ffn,
        intermediate_size=model.ffn,
        num_experts=model.experts,
        num_experts_per_tok=model.top_k,
        norm_topk_prob=True,
        mlp_only_layers=[],
        decoder_sparse_step=1,
        **sizes,
    )


def unpacked() -> None:
    """Tells transformers that no sequence is packed, as it sees for itself on a device."""
    masking_utils.find_packed_sequence_indices = lambda position_ids: None


def adapted(model: torch.nn.Module, rank: int) -> torch.nn.Module:
    """The model with adapters beside the products of attention, in fp32 as PEFT leaves them. PEFT
    moves modules to the device of the base, which swaps tensors; fake ones refuse that, and are
    there already."""
    targets = ["q_proj", "k_proj", "v_proj", "o_proj"]
    model.enable_input_require_grads()
    config = peft.LoraConfig(r=rank, target_modules=targets, lora_dropout=0.0)
    with mock.patch.object(torch.nn.Module, "to", lambda module, *_, **__: module):
        return peft.get_peft_model(model, config)


def split(model: torch.nn.Module, mesh: DeviceMesh, reshards: bool) -> torch.nn.Module:
    """The model as accelerate prepares it for FSDP2 with bf16."""
    plugin = accelerate.FullyShardedDataParallelPlugin(
        fsdp_version=2,
        reshard_after_forward=reshards,
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


def fuse_loss(model: torch.nn.Module) -> None:
    """Gives a model the loss of TRL, whose tiles of logits stay in one buffer."""
    from trl.kernels import chunked_logprob
    from trl.trainer import utils

    chunked_logprob._forward_tile = lambda *args, **words: None
    chunked_logprob._backward_tile = lambda *args, **words: None
    chunked_logprob._addmm_fp32 = lambda *args: None
    utils.add_fused_lm_head(model, outputs=("entropy", "is_top1"))


def loss_of(model: torch.nn.Module, case: Case) -> torch.Tensor:
    """The loss of one pass. The model's outputs are let go of, as Trainer does."""
    tokens = torch.randint(0, case.model.vocab, (case.batch.micro_batch, case.batch.length))
    if case.loss == "model":
        return model(input_ids=tokens, labels=tokens).loss
    outputs = model(input_ids=tokens, labels=tokens, fused_lm_head=True)
    return (-outputs.log_probs).sum() / outputs.label_mask.sum().clamp(min=1)


def step(model: torch.nn.Module, optimizer: torch.optim.Optimizer, case: Case) -> None:
    """One step as transformers' Trainer takes it: gradients are let go of after the update."""
    with torch.autocast("cpu", dtype=torch.bfloat16):
        loss = loss_of(model, case)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)


def build(case: Case) -> torch.nn.Module:
    """The whole model of a case: fp32 where all of it is trained, else bf16 with adapters."""
    stored = torch.bfloat16 if case.adapter_rank else torch.float32
    model = transformers.AutoModelForCausalLM.from_config(config_of(case.model), dtype=stored)
    if case.loss == "trl":
        fuse_loss(model)
    if case.checkpointing:
        model.gradient_checkpointing_enable({"use_reentrant": False})
    if case.adapter_rank:
        model = adapted(model, case.adapter_rank)
    model.train()
    return model


def buckets(case: Case, trained: list[torch.nn.Parameter]) -> list[torch.Tensor]:
    """The buckets of DDP, beside gradients of their own (torch/csrc/distributed/c10d/reducer.cpp,
    initialize_buckets; gradient_as_bucket_view is off in accelerate)."""
    if case.parallel != "ddp":
        return []
    size = sum(parameter.numel() * parameter.element_size() for parameter in trained)
    return [torch.empty(size, dtype=torch.uint8)]


def measured(case: Case, count=count_step) -> dict[str, float]:
    """What `count` counts of a step of a case."""
    unpacked()
    with fake_ranks(case.batch.ranks):
        mesh = dist.init_device_mesh("cpu", (case.batch.ranks,), mesh_dim_names=("dp",))
        with fake_tensors():
            model = build(case)
            if case.parallel == "fsdp2":
                model = split(model, mesh, case.reshards)
            trained = [parameter for parameter in model.parameters() if parameter.requires_grad]
            optimizer = torch.optim.AdamW(trained, lr=1e-4, fused=True)
            make_states(optimizer)
            held = buckets(case, trained)
            return count(lambda: step(model, optimizer, case), model, optimizer, *held)


def row_of(case: Case) -> dict[str, object]:
    words = (
        "framework: {name: accelerate, variant: trl}"
        if case.loss == "trl"
        else "framework: accelerate"
    )
    job = (
        f"{{model: {case.model.words()}, cluster: {{profile: dgx-h100}}, {words}, "
        "precision: bf16, optimizer: adamw, kernels: {attention: flash2}"
    )
    if case.adapter_rank:
        job += f", adapters: {{rank: {case.adapter_rank}, targets: [qkv, projection]}}"
    sharding = {"ddp": "NNN", "fsdp2": "GGG" if case.reshards else "NGG"}[case.parallel]
    recompute = "full" if case.checkpointing else "none"
    program = ("trl_" if case.loss == "trl" else "transformers_") + case.parallel
    return (
        {"program": program + ("_lora" if case.adapter_rank else "")}
        | columns_of(case.model, case.batch)
        | {
            "job": job + "}",
            "plan": f"{{sharding: {sharding}, recompute: {recompute}}}",
        }
    )

"""torchtune's Llama 3 and Qwen2 models, as its distributed recipes run them."""

from __future__ import annotations

import random
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version

import torch
import torch.distributed as dist
from memory_programs.counted import count_step, fake_ranks, fake_tensors, make_states
from memory_programs.drawn import Batch, Model, columns_of, draw_batch, draw_model
from torchtune import modules, training
from torchtune.models.llama3 import llama3, lora_llama3
from torchtune.modules.loss import CEWithChunkedOutputLoss
from torchtune.modules.peft import get_adapter_params, set_trainable_params

VERSIONS = f"torchtune {version('torchtune')}"
CHUNKS = 8  # CEWithChunkedOutputLoss
ADAPTED = ["q_proj", "k_proj", "v_proj", "output_proj"]


@dataclass(frozen=True)
class Case:
    """A drawn model and plan."""

    model: Model
    batch: Batch
    checkpointing: bool
    reshards: bool
    adapter_rank: int  # 0: all weights are trained


def draw(dice: random.Random, place: int) -> Case:
    model = draw_model(dice, False)
    while model.family != "llama":
        model = draw_model(dice, False)
    return Case(
        model=model,
        batch=draw_batch(dice),
        checkpointing=dice.random() < 0.5,
        reshards=dice.random() < 0.75,
        adapter_rank=dice.choice([0, 0, 16]),
    )


def build(case: Case, mesh) -> torch.nn.Module:
    """The model as full_finetune_distributed.py and lora_finetune_distributed.py set it up."""
    model = case.model
    sizes = {
        "vocab_size": model.vocab,
        "num_layers": model.layers,
        "num_heads": model.heads,
        "num_kv_heads": model.kv_heads,
        "embed_dim": model.hidden,
        "max_seq_len": case.batch.length,
        "intermediate_dim": model.ffn,
    }
    with training.set_default_dtype(torch.bfloat16):
        if case.adapter_rank:
            decoder = lora_llama3(
                lora_attn_modules=ADAPTED, lora_rank=case.adapter_rank, lora_alpha=16, **sizes
            )
            set_trainable_params(decoder, get_adapter_params(decoder))
        else:
            decoder = llama3(**sizes)
    decoder.set_num_output_chunks(CHUNKS)
    if case.checkpointing:
        training.set_activation_checkpointing(
            decoder, auto_wrap_policy={modules.TransformerSelfAttentionLayer}
        )
    names = ["tok_embeddings", "output"]
    conditions = [partial(training.get_shard_conditions, names_to_match=names)]
    training.shard_model(
        model=decoder,
        shard_conditions=conditions,
        cpu_offload=False,
        reshard_after_forward=case.reshards,
        dp_mesh=mesh,
    )
    return decoder.train()


def step(model, optimizer, loss_fn, case: Case) -> None:
    """One step of the recipes' train()."""
    shape = (case.batch.micro_batch, case.batch.length)
    tokens = torch.randint(0, case.model.vocab, shape)
    logits = model(tokens)
    labels = torch.hstack((tokens[..., 1:], torch.full((shape[0], 1), -100)))
    loss = loss_fn(logits, labels) * torch.tensor(1.0)
    del logits
    loss.backward()
    for parameter in model.parameters():
        if parameter.grad is not None:
            parameter.grad *= torch.tensor(1.0)  # training/_grad_scaler.py
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)


def measured(case: Case) -> dict[str, float]:
    with fake_ranks(case.batch.ranks):
        mesh = dist.init_device_mesh("cpu", (case.batch.ranks,), mesh_dim_names=("dp",))
        with fake_tensors():
            model = build(case, mesh)
            trained = [parameter for parameter in model.parameters() if parameter.requires_grad]
            optimizer = torch.optim.AdamW(trained, lr=2e-5, fused=True)
            make_states(optimizer)
            loss_fn = CEWithChunkedOutputLoss(CHUNKS)
            return count_step(lambda: step(model, optimizer, loss_fn, case), model, optimizer)


def row_of(case: Case) -> dict[str, object]:
    job = (
        f"{{model: {case.model.words()}, cluster: {{profile: dgx-h100}}, "
        "framework: {name: fsdp, variant: torchtune}, precision: bf16, optimizer: adamw, "
        f"kernels: {{attention: flash2, masters: none, loss_chunks: {CHUNKS}}}"
    )
    if case.adapter_rank:
        job += f", adapters: {{rank: {case.adapter_rank}, targets: [qkv, projection]}}"
    sharding = "GGG" if case.reshards else "NGG"
    recompute = "full" if case.checkpointing else "none"
    return (
        {"program": f"torchtune_{'lora' if case.adapter_rank else 'full'}"}
        | columns_of(case.model, case.batch)
        | {
            "job": job + "}",
            "plan": f"{{sharding: {sharding}, recompute: {recompute}}}",
        }
    )

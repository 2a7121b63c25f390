"""torchtune's Llama 3 and Qwen2 models, as its distributed recipes run them."""

from __future__ import annotations

import inspect
import random
import types
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from unittest import mock

import torch
import torch.distributed as dist
from memory_programs.counted import count_step, fake_ranks, fake_tensors, make_states
from memory_programs.drawn import Batch, Model, columns_of, draw_batch, draw_model
from torchtune import modules, training
from torchtune.models.llama3 import llama3, lora_llama3
from torchtune.modules.loss import CEWithChunkedOutputLoss
from torchtune.modules.peft import get_adapter_params, set_trainable_params
from torchtune.training import _activation_offloading as offloading

VERSIONS = f"torchtune {version('torchtune')}"
CHUNKS = 8  # CEWithChunkedOutputLoss
ADAPTED = ["q_proj", "k_proj", "v_proj", "output_proj"]


@dataclass(frozen=True)
class Case:
    """A drawn model and plan."""

    model: Model
    batch: Batch
    checkpointing: bool
    offloads: bool  # what layers keep, to the host
    reshards: bool
    adapter_rank: int  # 0: all weights are trained


def draw(dice: random.Random, place: int) -> Case:
    model = draw_model(dice, False)
    while model.family != "llama":
        model = draw_model(dice, False)
    checkpointing = dice.random() < 0.5
    return Case(
        model=model,
        batch=draw_batch(dice),
        checkpointing=checkpointing,
        offloads=checkpointing and dice.random() < 0.5,
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


class OneStream:
    """A stream or event of CUDA: tensors without contents wait for none."""

    def __init__(self, *args) -> None:
        pass

    wait_event = wait_stream = __init__

    def record_event(self) -> OneStream:
        return self


def on_fake_tensors() -> types.ModuleType:
    """torchtune's module of offloading, for which the CPU is the device, and meta tensors, which
    are not counted, are those of the host."""
    source = inspect.getsource(offloading)
    for own, here in (
        ('pin_memory=self.use_pin_memory, device="cpu"', 'device="meta"'),
        (
            'maybe_gpu_tensor.to("cuda", non_blocking=True)',
            "torch.empty_like(maybe_gpu_tensor, device='cpu')",
        ),
        ("unpacked_tensor.record_stream(self.s0)", "pass"),
    ):
        assert own in source, own
        source = source.replace(own, here)
    module = types.ModuleType("offloading_on_fake_tensors")
    exec(compile(source, offloading.__file__, "exec"), vars(module))
    return module


def offload_context(model: torch.nn.Module, case: Case):
    """What the recipes run the model's forward in."""
    streams = {"Stream": OneStream, "default_stream": OneStream}
    with mock.patch.multiple(torch.cuda, **streams):
        return on_fake_tensors().get_act_offloading_ctx_manager(model, case.offloads)


def step(model, optimizer, loss_fn, case: Case, offloads) -> None:
    """One step of the recipes' train()."""
    shape = (case.batch.micro_batch, case.batch.length)
    tokens = torch.randint(0, case.model.vocab, shape)
    with offloads:
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


def measured(case: Case, count=count_step) -> dict[str, float]:
    """What `count` counts of a step of a case."""
    with fake_ranks(case.batch.ranks):
        mesh = dist.init_device_mesh("cpu", (case.batch.ranks,), mesh_dim_names=("dp",))
        with fake_tensors():
            model = build(case, mesh)
            trained = [parameter for parameter in model.parameters() if parameter.requires_grad]
            optimizer = torch.optim.AdamW(trained, lr=2e-5, fused=True)
            make_states(optimizer)
            loss_fn = CEWithChunkedOutputLoss(CHUNKS)
            offloads = offload_context(model, case)
            with mock.patch.object(torch.cuda, "stream", lambda stream: nullcontext()):
                return count(
                    lambda: step(model, optimizer, loss_fn, case, offloads), model, optimizer
                )


def row_of(case: Case) -> dict[str, object]:
    job = (
        f"{{model: {case.model.words()}, cluster: {{profile: dgx-h100}}, "
        "framework: {name: fsdp, variant: torchtune, version: '0.6'}, "
        "precision: bf16, optimizer: adamw, kernels: {attention: flash2, masters: none, "
        f"loss_chunks: {CHUNKS}, loss_keeps: all_logits}}"
    )
    if case.adapter_rank:
        job += f", adapters: {{rank: {case.adapter_rank}, targets: [qkv, projection]}}"
    sharding = "GGG" if case.reshards else "NGG"
    recompute = "full" if case.checkpointing else "none"
    offload = ", offload: {activations: [layer_input]}" if case.offloads else ""
    return (
        {"program": f"torchtune_{'lora' if case.adapter_rank else 'full'}"}
        | columns_of(case.model, case.batch)
        | {
            "job": job + "}",
            "plan": f"{{sharding: {sharding}, recompute: {recompute}{offload}}}",
        }
    )

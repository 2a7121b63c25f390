"""torchtitan's models of Llama and Qwen3, as its Trainer runs them.

Attention is torchtitan's `varlen`: PyTorch's own operator, whose shapes are those of the CUDA
kernel (torch/nn/attention/varlen.py, _varlen_attn_fake). Counts of routed tokens, which tensors
without contents lack, are taken as equal for all experts (`balanced`).
"""

# ruff: noqa: E402

from __future__ import annotations

import random
import sys
import types
from dataclasses import dataclass, replace
from functools import partial
from importlib.metadata import version

import torch

sys.modules["torch.utils.tensorboard"] = types.SimpleNamespace(SummaryWriter=None)  # writes nothing

from torchtitan.tools import utils

utils.device_type = "cpu"  # others import it by name
from memory_programs.counted import count_step, fake_ranks, fake_tensors, make_states
from memory_programs.drawn import Batch, Model, columns_of, draw_batch, draw_model
from torchtitan.components import loss as losses
from torchtitan.config import CompileConfig, ParallelismConfig, TrainingConfig
from torchtitan.distributed import ParallelDims
from torchtitan.distributed import utils as dist_utils
from torchtitan.distributed.activation_checkpoint import FullAC, SelectiveAC
from torchtitan.models import llama3, qwen3
from torchtitan.models.common import CosSinRoPE, Embedding, Linear
from torchtitan.models.common.attention import VarlenMetadata
from torchtitan.models.common.moe import TokenChoiceTopKRouter
from torchtitan.models.common.nn_modules import RMSNorm
from torchtitan.models.common.token_dispatcher import AllToAllTokenDispatcher, LocalTokenDispatcher
from torchtitan.trainer import Trainer

VERSIONS = f"torchtitan {version('torchtitan')}"
RECOMPUTATION = {"none": None, "full": FullAC, "per-operator": SelectiveAC}


@dataclass(frozen=True)
class Case:
    """A drawn model and plan."""

    model: Model
    batch: Batch
    recompute: str
    tensor: int
    expert: int
    reshards: str  # never, default
    chunks: int  # of the loss; 0: whole


def draw(dice: random.Random, place: int) -> Case:
    """A case; every second one is a mixture of experts."""
    model = draw_model(dice, place % 2 == 1)
    batch = draw_batch(dice)
    degrees = [n for n in (1, 1, 2, 4) if n <= batch.ranks and model.kv_heads % n == 0]
    experts = [n for n in (1, 2, 4, 8) if n <= batch.ranks]
    return Case(
        model=model,
        batch=batch,
        recompute=dice.choice(sorted(RECOMPUTATION)),
        tensor=dice.choice(degrees),
        expert=dice.choice(experts) if model.experts else 1,
        reshards=dice.choice(["default", "default", "never"]),
        chunks=dice.choice([0, 8, 8]),
    )


def norm(width: int) -> RMSNorm.Config:
    return RMSNorm.Config(normalized_shape=width, param_init=qwen3._NORM_INIT)


def model_config(model: Model, length: int):
    sizes = {
        "n_layers": model.layers,
        "dim": model.hidden,
        "n_heads": model.heads,
        "n_kv_heads": model.kv_heads,
        "attn_backend": "varlen",
        "rope": CosSinRoPE.Config(dim=128, max_seq_len=length, theta=1e6),
    }
    ends = {
        "vocab_size": model.vocab,
        "dim": model.hidden,
        "norm": norm(model.hidden),
        "tok_embeddings": Embedding.Config(
            num_embeddings=model.vocab,
            embedding_dim=model.hidden,
            param_init=qwen3._EMBEDDING_INIT,
        ),
        "lm_head": Linear.Config(
            in_features=model.hidden,
            out_features=model.vocab,
            param_init=qwen3._LINEAR_INIT,
        ),
    }
    if model.family == "llama":
        layers = llama3._build_llama3_layers(hidden_dim=model.ffn, **sizes)
        return llama3.Llama3Model.Config(layers=layers, **ends)
    sizes["head_dim"] = 128
    if model.experts == 0:
        layers = qwen3._build_qwen3_layers(hidden_dim=model.ffn, **sizes)
    else:
        layers = qwen3._build_qwen3_moe_layers(
            moe_hidden_dim=model.ffn,
            num_experts=model.experts,
            top_k=model.top_k,
            moe_comm_backend="standard",
            **sizes,
        )
    return qwen3.Qwen3Model.Config(layers=layers, **ends)


def balanced() -> None:
    """Lets every expert rank receive as many rows as it sends."""
    reorder = LocalTokenDispatcher._local_reorder

    def counted_reorder(self, *args):
        result = reorder(self, *args)
        self.rows = result[0].shape[0]
        return result

    def equal_counts(self, own, gathered, ranks):
        rows = [self.rows // ranks] * ranks
        return torch.ops._c10d_functional.wait_tensor(gathered).reshape(-1), rows, rows

    LocalTokenDispatcher._local_reorder = counted_reorder
    AllToAllTokenDispatcher._sync_token_count_exchange = equal_counts


balanced()


def wide_gate(model: torch.nn.Module) -> None:
    """Lets routers multiply in fp32, which autocast does on a device and not on a CPU."""
    for module in model.modules():
        if isinstance(module, TokenChoiceTopKRouter):
            gate = module.gate
            gate.forward = partial(wide_product, gate)


def wide_product(gate: torch.nn.Module, rows: torch.Tensor) -> torch.Tensor:
    return torch.nn.functional.linear(rows.float(), gate.weight.float())


def trainer_config(case: Case, spec) -> Trainer.Config:
    loss = losses.CrossEntropyLoss.Config(global_vocab_size=case.model.vocab)
    if case.chunks:
        loss = losses.ChunkedLossWrapper.Config(loss_fn=loss, num_chunks=case.chunks)
    recompute = RECOMPUTATION[case.recompute]
    return Trainer.Config(
        model_spec=spec,
        loss=loss,
        training=TrainingConfig(
            local_batch_size=case.batch.micro_batch,
            seq_len=case.batch.length,
            disable_cuda_graphs=True,
        ),
        parallelism=ParallelismConfig(
            tensor_parallel_degree=case.tensor,
            expert_parallel_degree=case.expert,
            fsdp_reshard_after_forward=case.reshards,
            spmd_backend="partial_dtensor",
        ),
        activation_checkpoint=None if recompute is None else recompute.Config(),
    )


def build(case: Case, config: Trainer.Config, dims: ParallelDims) -> torch.nn.Module:
    """The model as Trainer builds it, without values."""
    config.model_spec.model.update_from_config(config=config)
    with torch.device("meta"):
        model = config.model_spec.model.build()
    wide_gate(model)
    config.model_spec.parallelize_fn(
        model,
        parallel_dims=dims,
        training=config.training,
        parallelism=config.parallelism,
        compile_config=CompileConfig(),
        ac_config=config.activation_checkpoint,
        dump_folder="",
    )
    model.to_empty(device="cpu")
    return model.train()


def measured(case: Case, count=count_step) -> dict[str, float]:
    """What `count` counts of a step of a case."""
    config = trainer_config(case, spec_of(case))
    with fake_ranks(case.batch.ranks):
        dims = ParallelDims.from_config(config.parallelism, case.batch.ranks)
        dims.build_mesh()
        dist_utils.set_spmd_backend(config.parallelism.spmd_backend)
        context = dist_utils.get_spmd_context(parallel_dims=dims)
        with fake_tensors():
            model = build(case, config, dims)
            loss = config.loss.build(compile_config=CompileConfig())
            if case.chunks:
                loss.set_lm_head(model.lm_head)
                model._skip_lm_head = True
            optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
            make_states(optimizer)

            def step() -> None:
                forward_backward(model, loss, case, context)
                dist_utils.clip_grad_norm_(
                    list(model.parameters()), 1.0, foreach=True, ep_enabled=dims.ep_enabled
                )
                optimizer.step()
                optimizer.zero_grad(set_to_none=True)

            return count(step, model, optimizer)


def forward_backward(model, loss, case: Case, context) -> None:
    """A pass as Trainer takes it (trainer.py, _forward_backward_body)."""
    rows, length = case.batch.micro_batch, case.batch.length
    tokens = torch.randint(0, case.model.vocab, (rows, length))
    positions = torch.arange(length, dtype=torch.int32).expand(rows, length)
    ends = torch.arange(rows + 1, dtype=torch.int32) * length
    masks = VarlenMetadata(cu_seq_q=ends, cu_seq_k=ends, max_q=length, max_k=length)
    with context():
        predicted = model(tokens, positions=positions, attention_masks=masks)
        value, _ = loss(predicted, tokens, torch.tensor(float(rows * length)), positions=positions)
        del predicted
        value.backward()


def spec_of(case: Case):
    family = llama3 if case.model.family == "llama" else qwen3
    spec = family.model_registry("debugmodel", attn_backend="varlen")
    return replace(spec, model=model_config(case.model, case.batch.length))


def row_of(case: Case) -> dict[str, object]:
    ranks = case.batch.ranks // case.tensor
    split = ", sequence_parallel: true" if case.tensor > 1 else ""
    if case.model.experts and case.tensor > 1 and case.expert == 1:
        split += f", parallel: {{expert_tensor: {case.tensor}}}"
    sharding = {"default": "GGG", "never": "NGG"}[case.reshards]
    job = (
        f"{{model: {case.model.words()}, cluster: {{profile: dgx-h100}}, "
        "framework: {name: torchtitan, version: '0.3'}, "
        "precision: bf16, optimizer: adamw"
    )
    kernels = "{attention: flash3"
    if case.chunks:
        kernels += f", loss_chunks: {case.chunks}, loss_keeps: gradients"
    return (
        {"program": "torchtitan"}
        | columns_of(case.model, case.batch)
        | {
            "global_batch": ranks * case.batch.micro_batch,
            "tp": case.tensor,
            "ep": case.expert,
            "job": job + ", kernels: " + kernels + "}}",
            "plan": f"{{sharding: {sharding}, recompute: {case.recompute}{split}}}",
        }
    )

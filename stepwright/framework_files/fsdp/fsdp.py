"""Trains a model of transformers with FSDP2 or DDP over a device mesh, as PLAN says.

torchrun --nnodes N --nproc-per-node G FILE --steps 10
"""

import argparse
import contextlib
import json
import os

import torch
import torch.distributed as dist
from torch.distributed.algorithms._checkpoint.checkpoint_wrapper import checkpoint_wrapper
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import (
    CPUOffloadPolicy,
    FSDPModule,
    MixedPrecisionPolicy,
    fully_shard,
)
from torch.distributed.optim import ZeroRedundancyOptimizer
from torch.distributed.tensor import Replicate
from torch.distributed.tensor.parallel import (
    ColwiseParallel,
    PrepareModuleInput,
    RowwiseParallel,
    loss_parallel,
    parallelize_module,
)
from torch.nn import functional
from torch.nn.parallel import DistributedDataParallel
from torch.profiler import profile, schedule
from torch.utils.checkpoint import CheckpointPolicy, create_selective_checkpoint_contexts
from transformers import AutoConfig, AutoModelForCausalLM

PLAN = json.loads("{}")

TYPES = {"fp32": torch.float32, "fp16": torch.float16, "bf16": torch.bfloat16}
SHARDED = PLAN["states"] not in ("NNN", "NNG")
ATTENTION = {
    torch.ops.aten._scaled_dot_product_flash_attention.default,
    torch.ops.aten._scaled_dot_product_efficient_attention.default,
    torch.ops.aten._scaled_dot_product_cudnn_attention.default,
    torch.ops.aten._scaled_dot_product_flash_attention_for_cpu.default,
}


def the_mesh(device):
    """Ranks as replicas x shards x tensor, the last one fastest."""
    sizes = (PLAN["replicas"], PLAN["shards"], PLAN["tensor"])
    return init_device_mesh(device, sizes, mesh_dim_names=("replicate", "shard", "tensor"))


def the_model():
    settings = dict(PLAN["model"])
    config = AutoConfig.for_model(settings.pop("model_type"), **settings)
    torch.manual_seed(0)
    model = AutoModelForCausalLM.from_config(config)
    model.config.use_cache = False
    return model


def keep_all_but_attention(context, operator, *args, **kwargs):
    again = operator in ATTENTION
    return CheckpointPolicy.MUST_RECOMPUTE if again else CheckpointPolicy.MUST_SAVE


def recompute(layers):
    """Wraps the layers that the plan computes again in the backward pass."""
    kind = PLAN["recompute"]
    every = kind["every"] if isinstance(kind, dict) else 1
    for i, layer in enumerate(layers):
        if kind == "selective":
            contexts = lambda: create_selective_checkpoint_contexts(keep_all_but_attention)  # noqa: E731
            layers[i] = checkpoint_wrapper(layer, context_fn=contexts)
        elif kind != "none" and i % every == 0:
            layers[i] = checkpoint_wrapper(layer)


def split_tensors(model, mesh):
    """Tensor parallelism of the families whose layers are named as those of Llama."""
    columns = {f"self_attn.{name}_proj": ColwiseParallel() for name in "qkv"}
    columns |= {"mlp.gate_proj": ColwiseParallel(), "mlp.up_proj": ColwiseParallel()}
    rows = {"self_attn.o_proj": RowwiseParallel(), "mlp.down_proj": RowwiseParallel()}
    # The projections of an input share it, so that its gradient is summed over ranks once.
    whole = Replicate()
    named = {"hidden_states": whole}
    inputs = {
        "self_attn": PrepareModuleInput(
            input_kwarg_layouts=named, desired_input_kwarg_layouts=named
        ),
        "mlp": PrepareModuleInput(input_layouts=whole, desired_input_layouts=whole),
    }
    for layer in model.model.layers:
        parallelize_module(layer, mesh, inputs | columns | rows)
    ends = {
        "model.embed_tokens": RowwiseParallel(input_layouts=Replicate()),
        "lm_head": ColwiseParallel(use_local_output=False),
    }
    parallelize_module(model, mesh, ends)


def shard(model, layers, mesh):
    """One unit of FSDP for each layer and one for the rest."""
    copies = PLAN["replicas"] > 1
    settings = {
        "mesh": mesh["replicate", "shard"] if copies else mesh["shard"],
        "reshard_after_forward": PLAN["states"][0] != "N",
        "mp_policy": MixedPrecisionPolicy(
            param_dtype=TYPES[PLAN["precision"]], reduce_dtype=TYPES[PLAN["accumulate"]]
        ),
    }
    if PLAN["host"]:
        settings["offload_policy"] = CPUOffloadPolicy(pin_memory=torch.cuda.is_available())
    for layer in layers:
        fully_shard(layer, **settings)
    return fully_shard(model, **settings)


def replicate(model, mesh, device):
    megabytes = PLAN["gradient_bucket"] * 4 / 2**20
    group = mesh["replicate"].get_group()
    devices = [torch.cuda.current_device()] if device == "cuda" else None
    return DistributedDataParallel(
        model,
        device_ids=devices,
        process_group=group,
        bucket_cap_mb=megabytes,
        broadcast_buffers=False,
    )


def the_optimizer(model, rate):
    kinds = {"adam": torch.optim.Adam, "adamw": torch.optim.AdamW, "sgd": torch.optim.SGD}
    kind = kinds[PLAN["optimizer"]]
    if PLAN["states"] == "NNG" and PLAN["replicas"] > 1:
        return ZeroRedundancyOptimizer(model.parameters(), optimizer_class=kind, lr=rate)
    return kind(model.parameters(), lr=rate)


def clip(model, longest):
    """Scales gradients down to a norm; those of one mesh are summed in one message."""
    by_mesh = {}
    for parameter in model.parameters():
        by_mesh.setdefault(getattr(parameter.grad, "device_mesh", None), []).append(parameter)
    norms = []
    for parameters in by_mesh.values():
        norm = torch.nn.utils.get_total_norm([parameter.grad for parameter in parameters])
        norms.append(norm.full_tensor() if hasattr(norm, "full_tensor") else norm)
    norm = torch.linalg.vector_norm(torch.stack(norms))
    for parameters in by_mesh.values():
        torch.nn.utils.clip_grads_with_norm_(parameters, longest, norm)


def accumulate(model, last):
    """What is sent in this micro-batch; gradients of a state N are reduced in the last one."""
    if isinstance(model, FSDPModule):
        model.set_requires_gradient_sync(last or PLAN["states"][1] != "N")
        model.set_requires_all_reduce(last)
        keeps = PLAN["states"][0] == "N" and not last
        model.set_reshard_after_backward(not keeps)
        return contextlib.nullcontext()
    return contextlib.nullcontext() if last or not PLAN["distributed"] else model.no_sync()


def loss_of(model, tokens, device):
    wide = PLAN["precision"] == "fp32" or SHARDED
    narrow = contextlib.nullcontext() if wide else torch.autocast(device, TYPES[PLAN["precision"]])
    with narrow:
        logits = model(input_ids=tokens[:, :-1], use_cache=False).logits
        return functional.cross_entropy(logits.flatten(0, 1).float(), tokens[:, 1:].flatten())


def batch_of(step, data_rank, device):
    """The micro-batches of a data rank; a step has the same sequences under every plan."""
    generator = torch.Generator().manual_seed(step)
    size = (PLAN["sequences"], PLAN["length"] + 1)
    tokens = torch.randint(PLAN["model"]["vocab_size"], size, generator=generator)
    mine = tokens.chunk(PLAN["replicas"] * PLAN["shards"])[data_rank]
    return mine.to(device).split(PLAN["micro_batch"])


def record_calls(folder):
    """What this rank sent, for `stepwright compare PLAN --log FOLDER/flight.*`."""
    from torch._C._distributed_c10d import _dump_fr_trace

    path = os.path.join(folder, f"flight.{dist.get_rank()}")
    with open(path, "wb") as file:
        file.write(_dump_fr_trace(includeStackTraces=False))


def profiled(folder):
    """Records all steps but the first two, for `stepwright compare PLAN --log FOLDER/trace.*`."""
    path = os.path.join(folder, f"trace.{dist.get_rank()}.json.gz")
    return profile(
        record_shapes=True,
        schedule=schedule(wait=1, warmup=1, active=1_000_000),
        on_trace_ready=lambda recorded: recorded.export_chrome_trace(path),
    )


def train(steps, rate, longest=1.0, recorder=None, traces=None):
    if recorder:
        os.environ.setdefault("TORCH_FR_BUFFER_SIZE", "100000")
    device = "cuda" if torch.cuda.is_available() else "cpu"
    if device == "cuda":
        torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    # Norms of gradients on the host are summed there.
    of_device = "cpu:gloo,cuda:nccl" if PLAN["host"] else "nccl"
    dist.init_process_group(of_device if device == "cuda" else "gloo")
    mesh = the_mesh(device)
    data_rank = mesh["replicate"].get_local_rank() * PLAN["shards"] + mesh["shard"].get_local_rank()
    model = the_model().to(device)
    layers = model.get_decoder().layers if hasattr(model, "get_decoder") else model.model.layers
    recompute(layers)
    if PLAN["tensor"] > 1:
        split_tensors(model, mesh["tensor"])
    if SHARDED:
        model = shard(model, layers, mesh)
    elif PLAN["distributed"]:
        model = replicate(model, mesh, device)
    optimizer = the_optimizer(model, rate)
    with profiled(traces) if traces else contextlib.nullcontext() as recorded:
        for step in range(steps):
            parts = batch_of(step, data_rank, device)
            total = torch.zeros((), dtype=torch.float64, device=device)
            for i, tokens in enumerate(parts):
                split = loss_parallel() if PLAN["tensor"] > 1 else contextlib.nullcontext()
                with accumulate(model, i == len(parts) - 1), split:
                    loss = loss_of(model, tokens, device) / len(parts)
                    loss.backward()
                value = loss.detach()
                total += value.full_tensor() if hasattr(value, "full_tensor") else value
            clip(model, longest)
            optimizer.step()
            optimizer.zero_grad()
            dist.all_reduce(total)
            if dist.get_rank() == 0:
                mean = total.item() / dist.get_world_size()
                print(json.dumps({"step": step, "loss": mean}), flush=True)
            if recorded:
                recorded.step()
    if recorder:
        record_calls(recorder)
    dist.destroy_process_group()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--lr", type=float, default=1e-3)
    parser.add_argument("--clip", type=float, default=1.0, help="longest norm of the gradients")
    parser.add_argument("--flight-recorder", metavar="FOLDER", help="write what each rank sent")
    parser.add_argument("--profile", metavar="FOLDER", help="write a trace of each rank's steps")
    options = parser.parse_args()
    train(options.steps, options.lr, options.clip, options.flight_recorder, options.profile)

"""Modules that `stepwright export --to torchtitan` writes start: for plans that together take every
pair of choices, torchtitan takes the configuration into its model, cuts and shards it over 32 ranks
that send nothing, and computes a forward on a CPU. FlexAttention has no backward there, kernels of
variable length nothing at all, and PyTorch 2.13 no parameters of `spmd_types`: the model is cut by
`partial_dtensor`, which refuses what `spmd_types` refuses of attention and context.

Needs the packages of tools/requirements/judges_current.txt. STEPWRIGHT_COMMAND and
STEPWRIGHT_GROUPS name the commands, STEPWRIGHT_DRAWS and STEPWRIGHT_SEED the plans.
"""

import tempfile
import types
import unittest

import titan_on_cpu  # noqa: F401
import torch
import torch.distributed as dist
from drawn_plans import Draw, count, drawn, judge_each
from titan_mesh import mesh_of
from titan_test import JOB, RANKS, Workplace
from torch.testing._internal.distributed.fake_pg import FakeStore
from torchtitan.distributed import utils
from torchtitan.distributed.parallel_dims import ParallelDims
from torchtitan.trainer import Trainer

USUAL_DRAWS = 12
MODELS = {
    "llama": "{layers: 4, hidden: 64, heads: 4, kv_heads: 4, ffn: 96, vocab: 250}",
    "grouped": "{layers: 4, hidden: 64, heads: 4, kv_heads: 2, ffn: 96, vocab: 250}",
    "tied": "{layers: 4, hidden: 64, heads: 4, ffn: 96, vocab: 250, tied: true}",
    "biased": "{layers: 4, hidden: 64, heads: 4, kv_heads: 2, ffn: 96, vocab: 250, qkv_bias: true}",
    "experts": "qwen3-30b-a3b",
}
CHOICES = {
    "model": MODELS,
    "attention": ["", "flash2", "flash3"],
    "tensor": [1, 2, 4],
    "pipeline": [1, 2],
    "context": [1, 2, 4],
    "expert": [1, 4],
    "sequence_parallel": [False, True],
    "schedule": ["{kind: 1f1b}", "{kind: gpipe}", "{kind: interleaved, chunks: 2}"],
    "sharding": ["NNN", "NNG", "NGG", "GNG", "GGG", "{states: III, group: 4}"],
    "recompute": ["none", "full", "selective"],
    "micro_batch": [1, 2],
    "precision": ["bf16", "fp32"],
    "length": [512, 1024],
}


def plan_of(draw: Draw) -> str:
    job = JOB % MODELS[draw["model"]]
    job = job.replace("sequences: 64, length: 512", f"sequences: 64, length: {draw['length']}")
    job += f"  precision: {draw['precision']}\n"
    if draw["attention"]:
        job += f"  kernels: {{attention: {draw['attention']}}}\n"
    cut = draw["tensor"] * draw["pipeline"] * draw["context"]
    expert = draw["expert"] if draw["model"] == "experts" else 1
    schedule = draw["schedule"] if draw["pipeline"] > 1 else "{kind: 1f1b}"
    sequence = str(draw["sequence_parallel"] and draw["tensor"] > 1).lower()
    return job + (
        f"parallel: {{tensor: {draw['tensor']}, pipeline: {draw['pipeline']}, "
        f"context: {draw['context']}, expert: {expert}, data: {RANKS // cut}}}\n"
        f"context_kind: all-gather\nsequence_parallel: {sequence}\nschedule: {schedule}\n"
        f"sharding: {draw['sharding']}\nrecompute: {draw['recompute']}\n"
        f"micro_batch: {draw['micro_batch']}\n"
    )


def forward(config: Trainer.Config, model: torch.nn.Module, dims: ParallelDims) -> None:
    """A forward of one local batch, as Trainer.forward_backward_step begins."""
    model.to_empty(device="cpu")
    with torch.no_grad():
        model.init_states(buffer_device=None)
        shape = (config.training.local_batch_size, config.training.seq_len)
        tokens = torch.zeros(shape, dtype=torch.long)
        positions = torch.arange(shape[1]).expand(shape).contiguous()
        trainer = types.SimpleNamespace(
            model_config=config.model_spec.model,
            model_parts=[model],
            parallel_dims=dims,
            device=torch.device("cpu"),
            config=config,
            ntokens_seen=0,
        )
        inputs, _, more = Trainer.post_dataloading_process(
            trainer, {"input": tokens, "positions": positions}, tokens.clone()
        )
        model(inputs, **more)


def start(config: Trainer.Config, draw: Draw, folder: str) -> None:
    """What Trainer.__init__ does with the configuration, without a GPU."""
    given = config.parallelism
    given.spmd_backend = "partial_dtensor"
    dims = mesh_of(ParallelDims, given, RANKS, spmd_backend=given.spmd_backend)
    sequence = dims.tp if given.enable_sequence_parallel else 1
    assert config.training.seq_len % (sequence * (2 * dims.cp if dims.cp > 1 else 1)) == 0
    utils.set_spmd_backend(given.spmd_backend)
    spec = config.model_spec
    spec.model.update_from_config(config=config)
    with torch.device("meta"):
        model = spec.model.build()
    ways = dims.dp_replicate * dims.dp_shard
    assert config.training.global_batch_size % (config.training.local_batch_size * ways) == 0
    words = {
        "parallel_dims": dims,
        "training": config.training,
        "parallelism": given,
        "compile_config": config.compile,
        "ac_config": config.activation_checkpoint,
        "dump_folder": folder,
    }
    if dims.pp_enabled:
        spec.pipelining_fn(
            model,
            device=torch.device("cpu"),
            model_config=spec.model,
            parallelize_fn=spec.parallelize_fn,
            loss_fn=config.loss.build(compile_config=config.compile),
            **words,
        )
        return
    model = spec.parallelize_fn(model, **words)
    if draw["model"] != "experts" and draw["attention"] != "flash3":
        forward(config, model, dims)


class Starts(unittest.TestCase):
    def test_every_pair_of_choices(self):
        dist.init_process_group("fake", rank=0, world_size=RANKS, store=FakeStore())

        def write(plan: str) -> tuple[Workplace, Trainer.Config]:
            place = Workplace(plan)
            return place, place.config()

        def judge(config: Trainer.Config, draw: Draw) -> None:
            with tempfile.TemporaryDirectory() as folder:
                start(config, draw, folder)

        plans = [(draw, plan_of(draw)) for draw in drawn(CHOICES, count(USUAL_DRAWS))]
        judge_each(self, "torchtitan", plans, write, judge)


if __name__ == "__main__":
    unittest.main(verbosity=2, warnings="ignore")

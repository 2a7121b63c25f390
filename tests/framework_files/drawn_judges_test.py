"""Files of `stepwright export` for plans that together take every pair of choices, before the
packages that they are for: DeepSpeed's parser, Accelerate's reader and mesh, torchtitan 0.2.2's
configuration and mesh, Megatron-Core's configuration, model and groups take each that is written.

Needs the packages of tools/requirements/judges.txt; what is missing is skipped and said.
STEPWRIGHT_COMMAND and STEPWRIGHT_GROUPS name the commands, STEPWRIGHT_DRAWS and STEPWRIGHT_SEED the
plans.
"""

import json
import types
import unittest
from collections.abc import Callable
from pathlib import Path

import judges_test
import megatron_judge_test
import yaml
from drawn_plans import Draw, count, drawn, judge_each
from judge_workplace import JOB, Workplace, has, join_ranks
from titan_mesh import mesh_of

RANKS = 32
USUAL_DRAWS = 12
CHOICES = {
    "model": ["", ", tied: true", ", qkv_bias: true", ", experts: {count: 8, top_k: 2, ffn: 64}"],
    "tensor": [1, 2, 4],
    "pipeline": [1, 2, 4],
    "context": [1, 2],
    "expert": [1, 2, 4],
    "context_kind": ["ring", "all-gather", "ulysses"],
    "sequence_parallel": [False, True],
    "schedule": ["{kind: 1f1b}", "{kind: gpipe}", "{kind: interleaved, chunks: 3}"],
    "sharding": ["NNN", "NNG", "NGG", "GGG", "{states: III, group: 4}", "{states: NNI, group: 4}"],
    "recompute": ["none", "selective", "full", "{every: 2}"],
    "micro_batch": [1, 2],
    "precision": ["bf16", "fp32", "fp8"],
    "attention": ["", "unfused", "flash2", "flash3"],
    "offload": ["{}", "{optimizer: 1}", "{optimizer: 1, parameters: true}"],
}


def plan_of(draw: Draw) -> str:
    job = JOB % draw["model"] + f"  precision: {draw['precision']}\n"
    if draw["attention"]:
        job += f"  kernels: {{attention: {draw['attention']}}}\n"
    cut = draw["tensor"] * draw["pipeline"] * draw["context"]
    routed = "experts" in draw["model"]
    sequence = draw["tensor"] > 1 and (draw["sequence_parallel"] or routed)
    return job + (
        f"parallel: {{tensor: {draw['tensor']}, pipeline: {draw['pipeline']}, "
        f"context: {draw['context']}, expert: {draw['expert'] if routed else 1}, "
        f"data: {RANKS // cut}}}\n"
        f"context_kind: {draw['context_kind']}\nsequence_parallel: {str(sequence).lower()}\n"
        f"schedule: {draw['schedule'] if draw['pipeline'] > 1 else '{kind: 1f1b}'}\n"
        f"sharding: {draw['sharding']}\nrecompute: {draw['recompute']}\n"
        f"micro_batch: {draw['micro_batch']}\noffload: {draw['offload']}\n"
    )


class Drawn(unittest.TestCase):
    def judge(self, target: str, name: str, judge: Callable[[Path], None], *options: str) -> None:
        words = ("--nearest", "--even-if-it-does-not-fit", *options)

        def write(plan: str) -> tuple[Workplace, Path]:
            place = Workplace()
            return place, place.export(target, plan, name, *words)

        plans = [(draw, plan_of(draw)) for draw in drawn(CHOICES, count(USUAL_DRAWS))]
        judge_each(self, target, plans, write, lambda path, _draw: judge(path))

    @unittest.skipUnless(
        has("deepspeed", "hjson"), "deepspeed is not installed (tools/setup.sh test)"
    )
    def test_deepspeed_takes_every_pair(self):
        def judge(path: Path) -> None:
            said = json.loads(path.read_text())
            size = said["train_micro_batch_size_per_gpu"] * said["gradient_accumulation_steps"]
            ranks = said["train_batch_size"] // size
            judges_test.DeepSpeed().config(path, ranks)

        self.judge("deepspeed", "ds.json", judge)

    @unittest.skipUnless(has("accelerate"), "accelerate is not installed (tools/setup.sh test)")
    def test_accelerate_takes_every_pair(self):
        from accelerate import DistributedType
        from accelerate.commands.config.config_args import ClusterConfig
        from accelerate.parallelism_config import ParallelismConfig
        from accelerate.utils import TorchContextParallelConfig

        def judge(path: Path) -> None:
            config = ClusterConfig.from_yaml_file(path)
            assert config.num_processes == RANKS
            prefix = "parallelism_config_"
            said = yaml.safe_load(path.read_text()).get("parallelism_config", {})
            words = {key.removeprefix(prefix): value for key, value in said.items()}
            if "cp_comm_strategy" in words:
                TorchContextParallelConfig(cp_comm_strategy=words.pop("cp_comm_strategy"))
            if words:
                kind = DistributedType(config.distributed_type)
                accelerator = {"num_processes": RANKS, "distributed_type": kind, "is_fsdp2": True}
                ParallelismConfig(**words)._validate_accelerator(
                    types.SimpleNamespace(multi_device=kind != DistributedType.FSDP, **accelerator)
                )

        self.judge("accelerate", "accelerate.yaml", judge)

    @unittest.skipUnless(
        has("torchtitan", "tyro"), "torchtitan is not installed (tools/setup.sh test)"
    )
    def test_torchtitan_of_toml_takes_every_pair(self):
        manager, dims = judges_test.import_without_its_kernels()
        join_ranks()

        def judge(path: Path) -> None:
            config = manager().parse_args(["--job.config_file", str(path)])
            given = config.parallelism
            mesh_of(dims, given, RANKS, etp=given.expert_tensor_parallel_degree)
            local, ways = config.training.local_batch_size, RANKS
            ways //= given.tensor_parallel_degree * given.context_parallel_degree
            ways //= given.pipeline_parallel_degree
            assert config.training.global_batch_size % (local * ways) == 0

        self.judge("torchtitan", "titan.toml", judge, "--release", "0.2.2")

    @unittest.skipUnless(
        has("megatron", "megatron.core"), "megatron-core is not installed (tools/setup.sh test)"
    )
    def test_megatron_takes_every_pair(self):
        from megatron.core.distributed import DistributedDataParallelConfig
        from megatron.core.parallel_state import RankGenerator

        core = megatron_judge_test.MegatronCore()

        def judge(path: Path) -> None:
            flags = megatron_judge_test.flags_of(path)
            core.config(flags)
            core.model_of(flags)
            fields = DistributedDataParallelConfig.__dataclass_fields__
            DistributedDataParallelConfig(
                **{key: value for key, value in flags.items() if key in fields}
            )
            size = {
                name: int(flags.get(f"{long}_parallel_size", 1))
                for name, long in {
                    "tp": "tensor_model",
                    "pp": "pipeline_model",
                    "cp": "context",
                }.items()
            }
            ways = RANKS // (size["tp"] * size["pp"] * size["cp"])
            RankGenerator(ep=1, dp=ways, order="tp-cp-ep-dp-pp", **size)
            micro = int(flags["micro_batch_size"]) * ways
            assert int(flags["global_batch_size"]) % micro == 0

        self.judge("megatron", "train.sh", judge)


if __name__ == "__main__":
    unittest.main(verbosity=2, warnings="ignore")

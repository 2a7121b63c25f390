"""Files of `stepwright export` before the packages that they are for: their own readers take them,
and the groups of ranks that they make are the plan's.

Needs the packages of tools/requirements/judges.txt; what is missing is skipped and said.
STEPWRIGHT_COMMAND and STEPWRIGHT_GROUPS name the commands.
"""

import importlib.util
import json
import os
import shlex
import subprocess
import sys
import tempfile
import types
import unittest
import warnings
from pathlib import Path
from unittest import mock

warnings.simplefilter("ignore")
os.environ["DS_ACCELERATOR"] = "cpu"
os.environ["HF_HUB_OFFLINE"] = "1"
try:
    import torch
    import torch.distributed as dist
    import yaml
    from torch.testing._internal.distributed.fake_pg import FakeStore
except ImportError as missing:
    print(f"skipped: {missing} (tools/setup.sh test)")
    sys.exit(77)

COMMAND = os.environ["STEPWRIGHT_COMMAND"]
GROUPS = os.environ["STEPWRIGHT_GROUPS"]
JOB = """stepwright: plan/2
job:
  model: {layers: 12, hidden: 256, heads: 8, kv_heads: 4, ffn: 512, vocab: 1000%s}
  cluster: {profile: dgx-h100, nodes: 4}
  batch: {sequences: 64, length: 512}
"""
DENSE = JOB % ""
ROUTED = JOB % ", experts: {count: 8, top_k: 2, ffn: 64}"
TITAN = "tensor_input: keep\noverlap: {tensor_gradients: false}\n"
MEGATRON = {
    "dense": DENSE + "parallel: {tensor: 2, pipeline: 2, data: 8}\nsequence_parallel: true\n"
    "schedule: {kind: interleaved, chunks: 3}\nsharding: NNG\nrecompute: selective\n",
    "pipeline inside": DENSE + "parallel: {pipeline: 2, data: 16}\nrank_order: tp-cp-ep-pp-dp\n",
    "context": DENSE + "parallel: {tensor: 2, context: 4, data: 4}\nsharding: NNG\n",
    "uneven": DENSE + "parallel: {pipeline: 4, data: 8}\nlayers: [2, 3, 4, 3]\n",
    "instances": DENSE + "parallel: {tensor: 4, data: 8}\nsharding: {states: NNI, group: 4}\n",
    "FSDP": DENSE + "parallel: {tensor: 2, data: 16}\nsharding: GGG\n",
    "experts": ROUTED + "parallel: {tensor: 2, pipeline: 2, data: 8, expert: 4}\n"
    "sequence_parallel: true\nsharding: NNG\n",
    "experts beside context": ROUTED + "parallel: {tensor: 2, context: 2, data: 8, expert: 8, "
    "expert_tensor: 2}\nsequence_parallel: true\n",
}


class Workplace:
    """A folder in which plans are exported."""

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name)

    def export(self, target: str, plan: str, name: str, *options: str) -> Path:
        (self.path / "plan.yaml").write_text(plan)
        output = self.path / name
        arguments = ["export", "--to", target, "--plan", self.path / "plan.yaml", "-o", output]
        run = subprocess.run(
            [COMMAND, *arguments, *options], capture_output=True, text=True, check=False
        )
        assert run.returncode == 0, run.stderr
        return output

    def groups(self) -> dict[str, list[list[int]]]:
        """The plan's own groups, by kind."""
        run = subprocess.run(
            [GROUPS, self.path / "plan.yaml"], capture_output=True, text=True, check=True
        )
        return json.loads(run.stdout)


def flags_of(script: Path) -> dict[str, str | bool]:
    """The arguments behind the program of a script."""
    text = script.read_text().split("pretrain_gpt.py", 1)[1]
    words = shlex.split(text.replace("\\\n", " "))
    found, name = {}, ""
    for word in words:
        if word.startswith("--"):
            name = word[2:].replace("-", "_")
            found[name] = True
        elif name and not word.startswith("$"):
            found[name] = word
    return found


def has(*names: str) -> bool:
    return all(importlib.util.find_spec(name) for name in names)


@unittest.skipUnless(
    has("megatron", "megatron.core"), "megatron-core is not installed (tools/setup.sh test)"
)
class MegatronCore(unittest.TestCase):
    def setUp(self):
        self.place = Workplace()

    def config(self, flags):
        """TransformerConfig's own checks of what the flags set."""
        from megatron.core.transformer.transformer_config import TransformerConfig

        fields = set(TransformerConfig.__dataclass_fields__)
        values = {name: value for name, value in flags.items() if name in fields}
        numbers = {
            name: int(value)
            for name, value in values.items()
            if isinstance(value, str) and value.isdigit()
        }
        renamed = {
            "num_moe_experts": flags.get("num_experts"),
            "virtual_pipeline_model_parallel_size": flags.get(
                "num_virtual_stages_per_pipeline_rank"
            ),
        }
        numbers |= {name: int(value) for name, value in renamed.items() if value}
        values.pop("attention_backend", None)
        values |= numbers | {"bf16": "bf16" in flags, "pipeline_dtype": torch.bfloat16}
        values["add_bias_linear"] = "disable_bias_linear" not in flags
        for name in ("hidden_dropout", "attention_dropout"):
            values[name] = float(values[name])
        if "cp_comm_type" in values:
            values["cp_comm_type"] = flags["cp_comm_type"]
        return TransformerConfig(**values)

    def test_takes_what_is_written(self):
        for name, plan in MEGATRON.items():
            with self.subTest(name):
                flags = flags_of(self.place.export("megatron", plan, "train.sh"))
                config = self.config(flags)
                self.assertEqual(config.num_layers, 12)
                self.assertEqual(config.sequence_parallel, "sequence_parallel: true" in plan)

    def test_knows_the_fields_of_data_parallelism(self):
        from megatron.core.distributed import DistributedDataParallelConfig

        for name in ("instances", "FSDP", "dense"):
            flags = flags_of(self.place.export("megatron", MEGATRON[name], "train.sh"))
            fields = {
                name: value
                for name, value in flags.items()
                if name in DistributedDataParallelConfig.__dataclass_fields__
            }
            self.assertIn("overlap_grad_reduce", fields)
            DistributedDataParallelConfig(**fields)
        self.assertEqual(
            flags_of(self.place.export("megatron", MEGATRON["FSDP"], "train.sh"))[
                "data_parallel_sharding_strategy"
            ],
            "optim_grads_params",
        )

    def test_reads_the_layout_of_an_uneven_pipeline(self):
        from megatron.core.transformer.pipeline_parallel_layer_layout import (
            PipelineParallelLayerLayout,
        )

        flags = flags_of(self.place.export("megatron", MEGATRON["uneven"], "train.sh"))
        layout = PipelineParallelLayerLayout.from_str(flags["pipeline_model_parallel_layout"], 4)
        stages = [
            sum(layer.name == "decoder" for layer in chunk)
            for stage in layout.layout
            for chunk in stage
        ]
        self.assertEqual(stages, [2, 3, 4, 3])

    def test_makes_the_groups_of_the_plan(self):
        from megatron.core.parallel_state import RankGenerator

        for name, plan in MEGATRON.items():
            with self.subTest(name):
                flags = flags_of(self.place.export("megatron", plan, "train.sh"))
                ours = self.place.groups()
                size = {
                    short: int(flags.get(f"{long}_parallel_size", 1))
                    for short, long in {
                        "tp": "tensor_model",
                        "pp": "pipeline_model",
                        "cp": "context",
                        "ep": "expert_model",
                    }.items()
                }
                etp = int(flags.get("expert_tensor_parallel_size", size["tp"]))
                inside = "use_tp_pp_dp_mapping" in flags
                order = "tp-cp-ep-pp-dp" if inside else "tp-cp-ep-dp-pp"
                dp = 32 // (size["tp"] * size["pp"] * size["cp"])
                dense = RankGenerator(
                    tp=size["tp"], ep=1, dp=dp, pp=size["pp"], cp=size["cp"], order=order
                )
                edp = 32 // (etp * size["pp"] * size["ep"])
                routed = RankGenerator(
                    tp=etp, ep=size["ep"], dp=edp, pp=size["pp"], cp=1, order=order
                )
                for kind, theirs in {
                    "tensor": dense.get_ranks("tp"),
                    "pipeline": dense.get_ranks("pp"),
                    "context": dense.get_ranks("cp"),
                    "data-context": dense.get_ranks("dp-cp"),
                    "expert": routed.get_ranks("ep"),
                    "expert-tensor": routed.get_ranks("tp"),
                    "expert-data": routed.get_ranks("dp"),
                }.items():
                    if kind.startswith("expert") and "num_experts" not in flags:
                        continue
                    self.assertEqual(sorted(theirs), ours[kind], kind)


@unittest.skipUnless(has("deepspeed", "hjson"), "deepspeed is not installed (tools/setup.sh test)")
class DeepSpeed(unittest.TestCase):
    def config(self, path: Path, ranks: int):
        """The file as DeepSpeed reads it on so many data-parallel ranks."""
        from deepspeed.runtime import config

        comm = types.SimpleNamespace(get_rank=lambda: 0)
        mpu = types.SimpleNamespace(get_data_parallel_world_size=lambda: ranks)
        with mock.patch.object(config, "dist", comm):
            return config.DeepSpeedConfig(str(path), mpu=mpu)

    def test_takes_what_is_written(self):
        place = Workplace()
        free = "overlap: {tensor_gradients: false, gradients: false, parameters: false, "
        free += "pipeline: false, context: false}\n"
        plans = {
            (0, 32): "parallel: {data: 32}\nsharding: NNN\noverlap: {gradients: false}\n",
            (1, 8): "parallel: {tensor: 2, pipeline: 2, data: 8}\nsharding: NNG\n" + free,
            (2, 32): "parallel: {data: 32}\nsharding: NGG\n",
            (3, 16): "parallel: {context: 2, data: 16}\ncontext_kind: ulysses\nsharding: GGG\n"
            "overlap: {context: false}\n",
        }
        for (stage, ranks), plan in plans.items():
            path = place.export("deepspeed", DENSE + plan, "ds.json")
            config = self.config(path, ranks)
            self.assertEqual(config.zero_config.stage, stage)
            self.assertEqual(config.train_batch_size, 64)
            self.assertTrue(config.bfloat16_config.enabled)
        inner = "parallel: {data: 32}\nsharding: {states: %s, group: 8}\n"
        path = place.export("deepspeed", DENSE + inner % "IGG", "ds.json")
        self.assertEqual(self.config(path, 32).zero_config.zero_hpz_partition_size, 8)

    def test_takes_no_shards_of_nodes_any_more(self):
        from deepspeed.runtime.config import DeepSpeedConfigError

        place = Workplace()
        plan = DENSE + "parallel: {data: 32}\nsharding: {states: III, group: 8}\n"
        path = place.export("deepspeed", plan, "ds.json", "--release", "0.19.6")
        with self.assertRaises(DeepSpeedConfigError):
            self.config(path, 32)
        with self.assertRaises(AssertionError):
            place.export("deepspeed", plan, "ds.json")


def import_without_its_kernels():
    """torchtitan's configuration and mesh; importing all of it needs Triton."""
    root = Path(importlib.util.find_spec("torchtitan").submodule_search_locations[0])
    for name, path in (("torchtitan", root), ("torchtitan.distributed", root / "distributed")):
        bare = types.ModuleType(name)
        bare.__path__ = [str(path)]
        sys.modules[name] = bare
    from torchtitan.config import ConfigManager
    from torchtitan.distributed.parallel_dims import ParallelDims

    return ConfigManager, ParallelDims


@unittest.skipUnless(has("torchtitan", "tyro"), "torchtitan is not installed (tools/setup.sh test)")
class Torchtitan(unittest.TestCase):
    PLANS = (
        DENSE + "parallel: {tensor: 2, pipeline: 2, data: 8}\nsequence_parallel: true\n"
        "schedule: {kind: interleaved, chunks: 2}\nsharding: NGG\nrecompute: full\n" + TITAN,
        DENSE + "parallel: {context: 2, data: 16}\ncontext_kind: all-gather\n"
        "sharding: {states: III, group: 8}\n",
        DENSE + "parallel: {tensor: 4, data: 8}\nsequence_parallel: true\nsharding: GGG\n"
        "recompute: {every: 2}\n" + TITAN,
    )

    def test_takes_what_is_written_and_makes_the_groups_of_the_plan(self):
        manager, dims = import_without_its_kernels()
        if not dist.is_initialized():
            dist.init_process_group("fake", rank=0, world_size=32, store=FakeStore())
        place = Workplace()
        for plan in self.PLANS:
            path = place.export("torchtitan", plan, "titan.toml", "--release", "0.2.2")
            config = manager().parse_args(["--job.config_file", str(path)])
            given = config.parallelism
            mesh = dims(
                dp_replicate=given.data_parallel_replicate_degree,
                dp_shard=given.data_parallel_shard_degree,
                cp=given.context_parallel_degree,
                tp=given.tensor_parallel_degree,
                pp=given.pipeline_parallel_degree,
                ep=given.expert_parallel_degree,
                etp=given.expert_tensor_parallel_degree,
                world_size=32,
            )
            mesh.build_mesh()
            ours = place.groups()
            for theirs, kind in {
                "tp": "tensor",
                "cp": "context",
                "pp": "pipeline",
                "fsdp": "shard-inner" if "III" in plan else "data-context",
            }.items():
                part = mesh.get_optional_mesh(theirs)
                ranks = [0] if part is None else part.mesh.tolist()
                self.assertIn(ranks, ours[kind], theirs)
            self.assertEqual(config.training.global_batch_size, 64)


@unittest.skipUnless(has("accelerate"), "accelerate is not installed (tools/setup.sh test)")
class Accelerate(unittest.TestCase):
    def test_takes_what_is_written(self):
        from accelerate.commands.config.config_args import ClusterConfig
        from accelerate.parallelism_config import ParallelismConfig

        place = Workplace()
        low = "accumulate: bf16\noverlap: {tensor_gradients: false}\n"
        for plan in (
            "parallel: {data: 32}\nsharding: NNN\n",
            "parallel: {data: 32}\nsharding: NNG\noverlap: {parameters: false}\n",
            "parallel: {data: 32}\nsharding: GGG\nrecompute: full\n" + low,
            "parallel: {tensor: 4, data: 8}\nsharding: {states: III, group: 4}\n" + low,
        ):
            path = place.export("accelerate", DENSE + plan, "accelerate.yaml")
            config = ClusterConfig.from_yaml_file(path)
            self.assertEqual((config.num_machines, config.num_processes), (4, 32))
            self.assertEqual(config.mixed_precision, "bf16")
            prefix = "parallelism_config_"
            sizes = {
                key.removeprefix(prefix): value
                for key, value in yaml.safe_load(path.read_text())
                .get("parallelism_config", {})
                .items()
            }
            if sizes:
                self.assertEqual(ParallelismConfig(**sizes).total_size, 32)


class Launchers(unittest.TestCase):
    """The scripts run here, with programs of the launchers' names that only say what they see."""

    def started(self, target: str, plan: str) -> str:
        place = Workplace()
        script = place.export(target, plan, "launch.sh")
        say = '#!/bin/sh\necho "$0" "$@"\nenv\n'
        for name in ("torchrun", "mpirun"):
            (place.path / name).write_text(say)
            (place.path / name).chmod(0o755)
        (place.path / "scontrol").write_text("#!/bin/sh\necho first-host\n")
        (place.path / "scontrol").chmod(0o755)
        (place.path / "srun").write_text('#!/bin/sh\nshift\nexport SLURM_NODEID=2\nexec "$@"\n')
        (place.path / "srun").chmod(0o755)
        environment = {"PATH": f"{place.path}:/usr/bin:/bin", "SLURM_JOB_NODELIST": "n[1-4]"}
        run = subprocess.run(
            ["bash", script, "python", "train.py", "a b"],
            capture_output=True,
            text=True,
            env=environment,
            check=True,
        )
        return run.stdout

    def test_start_every_rank_node_by_node(self):
        plan = DENSE + "parallel: {tensor: 2, data: 16}\n"
        torchrun = self.started("torchrun", plan)
        self.assertIn("--nnodes 4 --nproc-per-node 8", torchrun)
        self.assertIn("python train.py a b", torchrun)
        slurm = self.started("slurm", plan)
        self.assertIn("--node-rank 2 --master-addr first-host", slurm)
        mpirun = self.started("mpirun", plan)
        self.assertIn("-np 32 --map-by ppr:8:node", mpirun)

    def test_set_what_the_framework_needs_and_nothing_else(self):
        plan = DENSE + "parallel: {tensor: 2, data: 16}\n"
        megatron = plan.replace("job:\n", "job:\n  framework: megatron-core\n")
        for target in ("torchrun", "slurm", "mpirun"):
            self.assertNotIn("CUDA_DEVICE_MAX_CONNECTIONS", self.started(target, plan))
            self.assertIn("CUDA_DEVICE_MAX_CONNECTIONS=1", self.started(target, megatron))
        ring = plan + "collectives: {tensor: ring, data: ring}\n"
        self.assertIn("NCCL_ALGO=allreduce:ring", self.started("torchrun", ring))

    def test_the_script_of_megatron_starts_it(self):
        said = self.started("megatron", MEGATRON["dense"])
        self.assertIn("./pretrain_gpt.py --num-layers 12", said)
        self.assertIn("--mock-data python train.py", said)


if __name__ == "__main__":
    unittest.main(verbosity=2)  # names what it skips

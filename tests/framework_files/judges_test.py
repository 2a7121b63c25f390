"""Files of `stepwright export` before the packages that they are for: their own readers take them,
and the groups of ranks that they make are the plan's.

Needs the packages of tools/requirements/judges.txt; what is missing is skipped and said.
STEPWRIGHT_COMMAND and STEPWRIGHT_GROUPS name the commands.
"""

import importlib.util
import subprocess
import sys
import types
import unittest
from pathlib import Path
from unittest import mock

from judge_workplace import DENSE, Workplace, has, join_ranks
from titan_mesh import mesh_of

try:
    import yaml
except ImportError as missing:
    print(f"skipped: {missing} (tools/setup.sh test)")
    sys.exit(77)

TITAN = "tensor_input: keep\noverlap: {tensor_gradients: false}\n"


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
        "schedule: {kind: interleaved, chunks: 2}\nsharding: NNG\nrecompute: full\n" + TITAN,
        DENSE + "parallel: {context: 2, data: 16}\ncontext_kind: all-gather\n"
        "sharding: {states: III, group: 8}\n",
        DENSE + "parallel: {tensor: 4, data: 8}\nsequence_parallel: true\nsharding: GGG\n"
        "recompute: {every: 2}\n" + TITAN,
    )

    def test_takes_what_is_written_and_makes_the_groups_of_the_plan(self):
        manager, dims = import_without_its_kernels()
        join_ranks()
        place = Workplace()
        for plan in self.PLANS:
            path = place.export("torchtitan", plan, "titan.toml", "--release", "0.2.2")
            config = manager().parse_args(["--job.config_file", str(path)])
            given = config.parallelism
            mesh = mesh_of(dims, given, 32, etp=given.expert_tensor_parallel_degree)
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
        said = self.started("megatron", DENSE + "parallel: {tensor: 2, pipeline: 2, data: 8}\n")
        self.assertIn("./pretrain_gpt.py --num-layers 12", said)
        self.assertIn("--mock-data python train.py", said)


if __name__ == "__main__":
    unittest.main(verbosity=2)  # names what it skips

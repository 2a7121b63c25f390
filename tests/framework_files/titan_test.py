"""The module that `stepwright export --to torchtitan` writes before torchtitan of today: its own
classes take it, the model that it builds has the parameters of the plan's, and its mesh makes the
plan's groups. What torchtitan imports for GPUs, logs and data sets (Triton, TensorBoard, Hugging
Face datasets, ...) stands in as empty modules: nothing of it runs before a step, which needs a GPU
(attention is FlexAttention or FlashAttention of variable length).

Needs the packages of tools/requirements/judges_current.txt. STEPWRIGHT_COMMAND and
STEPWRIGHT_GROUPS name the commands.
"""

import importlib.machinery
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import types
import unittest
import warnings
from pathlib import Path
from unittest import mock

from titan_mesh import mesh_of

warnings.simplefilter("ignore")
try:
    import torch
    import torch._inductor.compile_fx  # before Triton stands in
    import torch.distributed as dist
    from torch.testing._internal.distributed.fake_pg import FakeStore
except ImportError as missing:
    print(f"skipped: {missing} (tools/setup.sh test)")
    sys.exit(77)

ABSENT = ("triton", "datasets", "wandb", "tensorboard", "PIL")


class EmptyModule(types.ModuleType):
    __version__ = "0"

    def __getattr__(self, name: str):
        if name.startswith("__"):
            raise AttributeError(name)
        return mock.MagicMock()


class EmptyModules:
    """Finds modules that are not there."""

    def find_spec(self, name: str, path=None, target=None):
        absent = name.split(".")[0] in ABSENT or name == "torch.utils.tensorboard"
        return importlib.machinery.ModuleSpec(name, self, is_package=True) if absent else None

    def create_module(self, spec):
        module = EmptyModule(spec.name)
        module.__path__ = []
        return module

    def exec_module(self, module):
        pass


sys.meta_path.insert(0, EmptyModules())
try:
    import torchtitan
    from torchtitan.distributed.parallel_dims import ParallelDims
    from torchtitan.trainer import Trainer
except ImportError as missing:
    print(f"skipped: {missing} (tools/setup.sh test)")
    sys.exit(77)

COMMAND = os.environ["STEPWRIGHT_COMMAND"]
GROUPS = os.environ["STEPWRIGHT_GROUPS"]
RANKS = 32
JOB = """stepwright: plan/2
job:
  model: %s
  cluster: {profile: dgx-h100, nodes: 4}
  batch: {sequences: 64, length: 512}
  framework: torchtitan
"""
LLAMA = JOB % "{layers: 12, hidden: 256, heads: 8, kv_heads: 4, ffn: 512, vocab: 1000}"
TIED = JOB % "{layers: 4, hidden: 128, heads: 4, ffn: 352, vocab: 250, tied: true}"
BIASED = JOB % (
    "{layers: 4, hidden: 128, heads: 4, kv_heads: 2, ffn: 352, vocab: 250, qkv_bias: true, "
    "norm_epsilon: 1e-6}"
)
PLANS = {
    "tensor and pipeline": LLAMA
    + "parallel: {tensor: 2, pipeline: 2, data: 8}\nsequence_parallel: true\n"
    "schedule: {kind: interleaved, chunks: 2}\nsharding: NNG\nrecompute: full\n",
    "context": LLAMA + "parallel: {context: 2, data: 16}\ncontext_kind: all-gather\n"
    "sharding: {states: III, group: 8}\n",
    "tied": TIED + "parallel: {tensor: 4, data: 8}\nsequence_parallel: true\nsharding: GGG\n",
    "biases": BIASED + "parallel: {tensor: 2, data: 16}\nsequence_parallel: true\nsharding: GGG\n",
    "a flavor": JOB % "qwen3-0.6b" + "parallel: {data: 32}\nsharding: GGG\n",
    "experts": JOB % "qwen3-30b-a3b" + "parallel: {data: 32, expert: 8}\nsharding: GGG\n",
}


class Workplace:
    """A folder in which a plan is exported."""

    def __init__(self, plan: str):
        self.folder = tempfile.TemporaryDirectory()
        self.plan = Path(self.folder.name) / "plan.yaml"
        self.plan.write_text(plan)

    def run(self, *words: object) -> str:
        run = subprocess.run([*map(str, words)], capture_output=True, text=True, check=False)
        assert run.returncode == 0, run.stderr
        return run.stdout

    def config(self) -> Trainer.Config:
        """What the exported module returns."""
        written = self.plan.with_name("stepwright_titan.py")
        words = ("export", "--to", "torchtitan", "--plan", self.plan, "-o", written, "--nearest")
        self.run(COMMAND, *words)
        spec = importlib.util.spec_from_file_location(written.stem, written)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module.stepwright_plan()

    def groups(self) -> dict[str, list[list[int]]]:
        return json.loads(self.run(GROUPS, self.plan))

    def parameters(self) -> int:
        words = ("predict", self.plan, "--json")
        return json.loads(self.run(COMMAND, *words))["model"]["parameters"]


def parameters_of(config: Trainer.Config) -> int:
    with torch.device("meta"):
        model = config.model_spec.model.build()
    return sum(each.numel() for each in model.parameters())


class Torchtitan(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        dist.init_process_group("fake", rank=0, world_size=RANKS, store=FakeStore())

    def test_takes_what_is_written(self):
        for name, plan in PLANS.items():
            with self.subTest(name):
                place = Workplace(plan)
                config = place.config()
                self.assertIsInstance(config, Trainer.Config)
                self.assertEqual(config.training.global_batch_size, 64)
                self.assertEqual(config.training.seq_len, 512)
                self.assertEqual(parameters_of(config), place.parameters())

    def test_makes_the_groups_of_the_plan(self):
        for name in ("tensor and pipeline", "context", "tied"):
            with self.subTest(name):
                place = Workplace(PLANS[name])
                given = place.config().parallelism
                mesh = mesh_of(ParallelDims, given, RANKS, spmd_backend=given.spmd_backend)
                ours = place.groups()
                kinds = {("tp",): "tensor", ("cp",): "context", ("pp",): "pipeline"}
                shards = "shard-inner" if name == "context" else "data-context"
                kinds[
                    ("dp_shard", "cp") if given.context_parallel_degree > 1 else ("dp_shard",)
                ] = shards
                for theirs, kind in kinds.items():
                    part = mesh.get_optional_mesh(list(theirs))
                    ranks = [0] if part is None else part.mesh.flatten().tolist()
                    self.assertIn(ranks, ours[kind], theirs)

    def test_takes_no_other_words(self):
        place = Workplace(PLANS["tied"])
        config = place.config()
        with self.assertRaises(TypeError):
            type(config.training)(num_tokens=1)


class LiveObjects(unittest.TestCase):
    def test_are_read_as_the_plan_that_they_are_of(self):
        try:
            import stepwright
        except ImportError as missing:
            self.skipTest(f"{missing}: the Python package is not built (make test)")
        for name in ("a flavor", "experts"):
            with self.subTest(name):
                place = Workplace(PLANS[name])
                answer = stepwright.check(place.config(), cluster="dgx-h100:4")
                plan = stepwright.load(place.plan)
                self.assertEqual(answer.plan["job"]["model"], plan["job"]["model"])
                self.assertEqual(answer.plan["parallel"]["data"], 32)
                self.assertEqual(
                    answer.plan["parallel"]["expert"], plan["parallel"].get("expert", 1)
                )
                self.assertEqual(answer.plan["sharding"]["states"], "GGG")
                self.assertEqual(answer.plan["recompute"], "none")
                self.assertEqual(answer.plan["job"]["batch"], plan["job"]["batch"])


if __name__ == "__main__":
    print(f"torchtitan {getattr(torchtitan, '__version__', '?')}")
    unittest.main(verbosity=2, warnings="ignore")

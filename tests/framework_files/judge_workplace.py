"""A folder in which plans are exported for the packages that judge them; ranks that send nothing.

STEPWRIGHT_COMMAND and STEPWRIGHT_GROUPS name the commands.
"""

import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

warnings.simplefilter("ignore")
os.environ["DS_ACCELERATOR"] = "cpu"
os.environ["HF_HUB_OFFLINE"] = "1"
try:
    import torch.distributed as dist
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

    def parameters(self) -> int:
        """Those of the plan's model."""
        words = [COMMAND, "predict", self.path / "plan.yaml", "--json"]
        run = subprocess.run(words, capture_output=True, text=True, check=True)
        return json.loads(run.stdout)["model"]["parameters"]

    def groups(self) -> dict[str, list[list[int]]]:
        """The plan's own groups, by kind."""
        run = subprocess.run(
            [GROUPS, self.path / "plan.yaml"], capture_output=True, text=True, check=True
        )
        return json.loads(run.stdout)


def join_ranks() -> None:
    """Rank 0 of 32 that send nothing."""
    if not dist.is_initialized():
        dist.init_process_group("fake", rank=0, world_size=32, store=FakeStore())


def has(*names: str) -> bool:
    return all(importlib.util.find_spec(name) for name in names)

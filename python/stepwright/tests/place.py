"""Shared by the tests: the command built beside the package, and input files."""

import os
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
COMMAND = Path(os.environ.get("STEPWRIGHT_COMMAND", "build/release/stepwright")).absolute()
PLAN = ROOT / "examples/llama-3-70b.plan.yaml"
JOB = """stepwright: job/2
model: llama-3-8b
cluster: {profile: dgx-h100, nodes: 1}
batch: {sequences: 64, length: 4096}
"""


def printed(*arguments: object) -> str:
    """What the command prints on standard output."""
    words = [str(word) for word in arguments]
    return subprocess.run([COMMAND, *words], capture_output=True, text=True, check=False).stdout


class PlaceTest(unittest.TestCase):
    """A test with a folder of its own."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def write(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        return path

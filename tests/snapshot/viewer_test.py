"""What `memory --write-snapshot` writes is a snapshot for Python and for PyTorch's viewer, and what
PyTorch's form of it says is what `memory --snapshot` answers. Runs in the root of the repository.
"""

import json
import os
import pickle
import subprocess
import tempfile
import unittest
from pathlib import Path

COMMAND = Path(os.environ.get("STEPWRIGHT_COMMAND", "build/release/stepwright")).absolute()
ROOT = Path(__file__).resolve().parents[2]
PLAN = ROOT / "examples/tiny-moe.plan.yaml"

try:
    from torch.cuda import _memory_viz
except ImportError:
    _memory_viz = None


def answer(*arguments):
    """The document of `memory --json`."""
    run = subprocess.run(
        [COMMAND, "memory", PLAN, "--json", *arguments], capture_output=True, text=True, check=False
    )
    if run.returncode not in (0, 1):
        raise AssertionError(run.stderr)
    return json.loads(run.stdout)


def largest_sum(trace, before):
    """The largest sum of blocks that a trace allocates, and frees as it asks for it."""
    blocks, now = {}, before
    most = now
    for event in trace:
        if event["action"] == "alloc":
            blocks[event["addr"]] = event["size"]
            now += event["size"]
        elif event["action"] == "free_requested":
            now -= blocks.pop(event["addr"], event["size"])
        most = max(most, now)
    return most


def before(snapshot, device):
    """Bytes in use before the first event of a device."""
    blocks, older = set(), 0
    for event in snapshot["device_traces"][device]:
        if event["action"] == "alloc":
            blocks.add(event["addr"])
        elif event["action"] == "free_requested":
            older += 0 if event["addr"] in blocks else event["size"]
            blocks.discard(event["addr"])
    for segment in snapshot["segments"]:
        for block in segment["blocks"] if segment["device"] == device else []:
            if block["state"] == "active_allocated" and block["address"] not in blocks:
                older += block["requested_size"]
    return older


class WrittenSnapshot(unittest.TestCase):
    def setUp(self):
        folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.file = folder / "plan.pickle"
        self.stages = answer("--write-snapshot", self.file)["stages"]
        self.snapshot = pickle.loads(self.file.read_bytes())

    def test_python_reads_it_with_the_peak_of_each_stage(self):
        self.assertEqual(len(self.snapshot["device_traces"]), len(self.stages))
        for device, stage in enumerate(self.stages):
            trace = self.snapshot["device_traces"][device]
            most = largest_sum(trace, before(self.snapshot, device))
            self.assertAlmostEqual(most, stage["allocated_peak_bytes"], delta=2)

    def test_segments_hold_their_blocks(self):
        for segment in self.snapshot["segments"]:
            sizes = [block["size"] for block in segment["blocks"]]
            self.assertEqual(sum(sizes), segment["total_size"])

    @unittest.skipIf(_memory_viz is None, "PyTorch is absent")
    def test_the_viewer_of_pytorch_shows_it(self):
        self.assertIn("snapshot.pickle", _memory_viz.trace_plot(self.snapshot))
        self.assertIn("snapshot.pickle", _memory_viz.segment_plot(self.snapshot))
        self.assertIn("Totals", _memory_viz.segsum(self.snapshot))
        self.assertIn("alloc", _memory_viz.trace(self.snapshot))

    def test_the_command_reads_it_back(self):
        said = answer("--snapshot", self.file)["snapshot"]
        self.assertEqual(len(said["ranks"]), len(self.stages))
        for rank, stage in zip(said["ranks"], self.stages, strict=True):
            self.assertAlmostEqual(rank["peak_bytes"], stage["allocated_peak_bytes"], delta=2)
            self.assertEqual(rank["matched_bytes"], rank["peak_bytes"])
            self.assertEqual((rank["unexplained"], rank["missing"]), ([], []))


if __name__ == "__main__":
    unittest.main()

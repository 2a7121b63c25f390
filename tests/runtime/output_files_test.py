"""The files of `stepwright train`: metrics go on behind the step that a run resumes from, and a
full disk leaves old files whole. STEPWRIGHT_COMMAND names the command."""

import json
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

COMMAND = Path(os.environ["STEPWRIGHT_COMMAND"]).absolute()
#: A shell with mounts of its own.
UNSHARED = ["unshare", "--map-root-user", "--mount", "bash", "-c"]
PLAN = """stepwright: plan/1
job:
  model: {layers: 1, hidden: 16, heads: 2, ffn: 16, vocab: 256}
  cluster:
    name: laptop
    device: {name: core, memory: 4e9, memory_bandwidth: 10e9, peak: {fp32: 50e9, bf16: 50e9}}
    devices: 1
    devices_per_node: 8
    levels: [{name: loopback, size: 8, bandwidth: 1e9}]
    nics_per_node: 1
    nic: 1e9
  batch: {sequences: 1, length: 8}
  precision: fp32
  optimizer: adamw
"""


class Outputs(unittest.TestCase):
    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        (self.folder / "plan.yaml").write_text(PLAN)
        (self.folder / "text").write_text("some words to train on, " * 20)

    def train(self, *words, **options):
        return subprocess.run(
            [COMMAND, "train", "plan.yaml", "--data", "text", *words],
            cwd=self.folder,
            env=os.environ | {"OMP_NUM_THREADS": "1"},
            timeout=120,
            capture_output=True,
            text=True,
            check=False,
            **options,
        )

    def steps(self):
        lines = (self.folder / "m.jsonl").read_text().splitlines()
        return [json.loads(line)["step"] for line in lines]

    def test_metrics_of_a_resumed_run_go_on(self):
        options = ["--checkpoint", "ck", "--metrics", "m.jsonl"]
        done = self.train(*options, "--steps", "3")
        self.assertEqual(done.returncode, 0, done.stderr)
        with (self.folder / "m.jsonl").open("a") as file:  # of steps behind the checkpoint
            file.write('{"step":4,"loss":0}\n{"step":5,"lo')
        done = self.train(*options, "--resume", "--steps", "5")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.steps(), [1, 2, 3, 4, 5])
        self.assertNotIn('"loss":0}', (self.folder / "m.jsonl").read_text())
        done = self.train("--metrics", "m.jsonl", "--steps", "2")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.steps(), [1, 2])

    def test_a_line_of_metrics_that_cannot_be_written_ends_the_run(self):
        done = self.train("--metrics", "/dev/full", "--steps", "50")
        self.assertEqual(done.returncode, 1)
        self.assertIn("/dev/full: cannot be written: No space left on device", done.stderr)
        self.assertNotIn("step      2", done.stderr)

    def test_a_full_disk_leaves_old_files_whole(self):
        (self.folder / "full").mkdir()
        if subprocess.run([*UNSHARED, "true"], capture_output=True, check=False).returncode != 0:
            self.skipTest("no disk can be mounted here (sudo make test)")
        for option in ("ledger", "weights", "gradients", "summary", "memory", "logits"):
            script = f"""
                mount -t tmpfs -o size=8k tmpfs full; echo -n old > full/{option}
                head -c 100000 /dev/zero > full/fill
                {COMMAND} train plan.yaml --data text --{option} full/{option} 2> errors; code=$?
                cat full/{option}; ls full; exit $code"""
            done = subprocess.run(
                [*UNSHARED, script],
                cwd=self.folder,
                env=os.environ | {"OMP_NUM_THREADS": "1"},
                timeout=120,
                capture_output=True,
                text=True,
                check=False,
            )
            errors = (self.folder / "errors").read_text()
            self.assertEqual(done.returncode, 1, errors)
            self.assertIn(f"full/{option}: cannot be written: No space left on device", errors)
            left = sorted(["fill", option])
            self.assertEqual(done.stdout.splitlines(), ["old" + left[0], left[1]])


if __name__ == "__main__":
    unittest.main()

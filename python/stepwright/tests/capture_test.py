"""`capture` runs a script in which this Python replaces the launchers."""

import os
import subprocess
import sys
import unittest
from unittest import mock

from place import COMMAND, PlaceTest
from stepwright.stand_in import stand_in_program

import stepwright

SCRIPT = """#!/bin/bash
#SBATCH --nodes=4
#SBATCH --gres=gpu:8
hosts=($(scontrol show hostnames "$SLURM_JOB_NODELIST"))
yes | head -n 1
mapfile -t DEGREES < <(printf '%s\\n' --tensor-model-parallel-size 4)
touch written
srun torchrun --nnodes "${#hosts[@]}" --nproc_per_node 8 pretrain_gpt.py "${DEGREES[@]}" \\
  --num-layers 8 --hidden-size 512 --num-attention-heads 8 --vocab-size 1024 --seq-length 512 \\
  --max-position-embeddings 512 --micro-batch-size 1 --global-batch-size 64 --bf16
"""


class Capture(PlaceTest):
    def setUp(self) -> None:
        super().setUp()
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(self.folder)
        self.write("job.sh", SCRIPT)

    def test_writes_down_what_a_script_would_start(self):
        record = stepwright.capture("bash", "job.sh", output="launch.json")
        (command,) = record.commands
        self.assertEqual((command.nodes, command.devices_per_node), (4, 8))
        self.assertEqual(command.launcher, ["srun"])
        self.assertEqual(command.argv[:3], ["torchrun", "--nnodes", "4"])
        self.assertEqual((record.ran, record.notes, record.exit_code), ([], [], 0))
        self.assertNotIn("LC_CTYPE", command.environment)
        self.assertTrue((self.folder / "written").exists())
        for given in (record, "launch.json"):
            answer = stepwright.check(given, cluster="dgx-h100")
            self.assertEqual(answer.plan["parallel"]["tensor"], 4)
            self.assertEqual(answer.plan["job"]["cluster"]["nodes"], 4)

    def test_is_what_the_command_writes(self):
        words = ["capture", "--nodes", "2", "--json", "--", "bash", "job.sh"]
        runs = [
            subprocess.run([*program, *words], capture_output=True, text=True, check=False)
            for program in ([COMMAND], [sys.executable, "-m", "stepwright"])
        ]
        self.assertEqual([run.returncode for run in runs], [0, 0])
        self.assertEqual(runs[0].stdout, runs[1].stdout)

    def test_check_captures_without_writing(self):
        options = {"capture": True, "only_launchers": True, "cluster": "dgx-h100"}
        answer = stepwright.check("bash", "job.sh", **options)
        self.assertEqual(answer.plan["parallel"]["tensor"], 4)
        self.assertFalse((self.folder / "written").exists())

    def test_a_script_that_starts_nothing_has_no_commands(self):
        self.write("idle.sh", "exit 3\n")
        record = stepwright.capture("bash", "idle.sh", timeout=20)
        self.assertEqual((record.commands, record.exit_code), ([], 3))
        with self.assertRaisesRegex(stepwright.InputError, "there is no such script"):
            stepwright.capture("bash", "nowhere.sh")
        with self.assertRaisesRegex(stepwright.InputError, "started nothing"):
            stepwright.check(record, cluster="dgx-h100")

    def test_the_environment_of_a_script_does_not_reach_stand_ins(self):
        self.write("os.py", "raise SystemExit('imported')\n")
        self.write("own.sh", "export PYTHONPATH=$PWD PYTHONHOME=/nowhere\ntorchrun train.py\n")
        (command,) = stepwright.capture("bash", "own.sh").commands
        self.assertEqual(command.argv, ["torchrun", "train.py"])

    def test_a_python_that_no_program_can_begin_with_is_refused(self):
        for python in ("", "/a folder/bin/python", "/" + "long/" * 40 + "python"):
            with (
                mock.patch.object(sys, "executable", python),
                mock.patch("os.access", return_value=True),
                self.assertRaisesRegex(stepwright.UnsupportedError, "command `stepwright capture`"),
                stand_in_program(),
            ):
                pass


if __name__ == "__main__":
    unittest.main()

"""Programs of `stepwright export --to fsdp` train here, over Gloo: every plan to the same losses,
sending what it says.

Needs the packages of tools/requirements-runtime.txt; exits with 77 where transformers is missing.
STEPWRIGHT_COMMAND names the command.
"""

import json
import multiprocessing
import os
import runpy
import socket
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["OMP_NUM_THREADS"] = "1"
try:
    import torch
    import transformers  # noqa: F401  (the programs find it loaded)
except ImportError as missing:
    print(f"skipped: {missing} (tools/setup.sh test installs what this test needs)")
    sys.exit(77)

COMMAND = os.environ["STEPWRIGHT_COMMAND"]
RANKS = 4
PLAN = """stepwright: plan/2
job:
  model: {layers: 2, hidden: 32, heads: 4, ffn: 48, vocab: 250}
  cluster: {profile: dgx-h100, devices: 4}
  batch: {sequences: 16, length: 16}
  precision: fp32
micro_batch: 2
"""
PLANS = {
    "DDP": "parallel: {data: 4}\nsharding: NNN\n",
    "ZeRO-1": "parallel: {data: 4}\nsharding: NNG\n",
    "ZeRO-2": "parallel: {data: 4}\nsharding: NGG\n",
    "ZeRO-3": "parallel: {data: 4}\nsharding: GGG\n",
    "GNG": "parallel: {data: 4}\nsharding: GNG\nrecompute: {every: 2}\n",
    "HSDP": "parallel: {data: 4}\nsharding: {states: III, group: 2}\nrecompute: selective\n",
    "NII": "parallel: {data: 4}\nsharding: {states: NII, group: 2}\nrecompute: full\n",
    "INI": "parallel: {data: 4}\nsharding: {states: INI, group: 2}\n",
    "tensor": "parallel: {tensor: 2, data: 2}\nsharding: GGG\noverlap: {tensor_gradients: false}\n",
}


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("localhost", 0))
        return probe.getsockname()[1]


def rank_of(program: Path, rank: int, port: int, answer: Path) -> None:
    """One rank of a program, whose output goes to a file."""
    os.environ |= {"RANK": str(rank), "LOCAL_RANK": str(rank), "WORLD_SIZE": str(RANKS)}
    os.environ |= {"MASTER_ADDR": "localhost", "MASTER_PORT": str(port)}
    with open(answer, "w") as out:
        os.dup2(out.fileno(), 1)
        runpy.run_path(str(program), run_name="program")["train"](3, 1e-2, 1.0, str(answer.parent))


def losses(name: str, folder: Path) -> list[float]:
    """What the program of a plan learns, step by step."""
    (folder / "plan.yaml").write_text(PLAN + PLANS[name])
    program = folder / "program.py"
    command = [COMMAND, "export", "--to", "fsdp", "--plan", folder / "plan.yaml", "-o", program]
    subprocess.run(command, check=True, capture_output=True)
    port = free_port()
    fork = multiprocessing.get_context("fork")  # PyTorch is loaded once
    ranks = [
        fork.Process(target=rank_of, args=(program, rank, port, folder / f"{rank}.txt"))
        for rank in range(RANKS)
    ]
    for rank in ranks:
        rank.start()
    for rank in ranks:
        rank.join(timeout=120)
    codes = [rank.exitcode for rank in ranks]
    for rank in ranks:
        rank.kill()
    if any(codes):
        raise AssertionError(f"{name}: exit codes {codes}")
    return [json.loads(line)["loss"] for line in (folder / "0.txt").read_text().splitlines()]


def compared(folder: Path) -> tuple[int, dict]:
    """What the last run sent, beside its plan."""
    logs = sorted(folder.glob("flight.*"))
    assert len(logs) == RANKS
    command = [COMMAND, "compare", folder / "plan.yaml", "--json", "--log", *logs]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    return run.returncode, json.loads(run.stdout)


class Programs(unittest.TestCase):
    def check_calls(self, name: str, place: Path) -> None:
        """What was sent, where a flight recorder on Gloo tells it apart."""
        if name == "DDP":
            code, answer = compared(place)
            self.assertEqual(code, 0, answer)
            self.assertEqual((answer["predicted_only"], answer["logged_only"]), (0, 0))
        if name == "ZeRO-3":  # the sum of a norm is recorded as a reduce-scatter is
            _, answer = compared(place)
            self.assertEqual(answer["logged_only"], 0)

    def test_learn_the_same_and_send_what_is_planned(self):
        torch.set_num_threads(1)
        expected = None
        with tempfile.TemporaryDirectory() as folder:
            place = Path(folder)
            for name in PLANS:
                with self.subTest(name):
                    found = losses(name, place)
                    expected = expected or found
                    self.assertEqual(len(found), 3)
                    for ours, theirs in zip(found, expected, strict=True):
                        self.assertAlmostEqual(ours, theirs, places=4)
                    self.check_calls(name, place)
        self.assertNotAlmostEqual(expected[0], expected[2], places=4)


if __name__ == "__main__":
    unittest.main()

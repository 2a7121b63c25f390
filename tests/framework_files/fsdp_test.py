"""Programs of `stepwright export --to fsdp` train here, over Gloo: every plan to the same losses,
sending what it says.

Needs the packages of tools/requirements/runtime.txt; exits with 77 where transformers is missing.
STEPWRIGHT_COMMAND names the command.
"""

import contextlib
import json
import multiprocessing
import os
import runpy
import socket
import subprocess
import sys
import tempfile
import unittest
from collections.abc import Iterator
from pathlib import Path

os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["OMP_NUM_THREADS"] = "1"
try:
    import torch
    import transformers  # noqa: F401  (the programs find it loaded)
except ImportError as missing:
    print(f"skipped: {missing} (tools/setup.sh test)")
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
    "host": "parallel: {data: 4}\nsharding: GGG\noffload: {optimizer: 1, parameters: true}\n",
    "GNG": "parallel: {data: 4}\nsharding: GNG\nrecompute: {every: 2}\n",
    "HSDP": "parallel: {data: 4}\nsharding: {states: III, group: 2}\nrecompute: selective\n",
    "NII": "parallel: {data: 4}\nsharding: {states: NII, group: 2}\nrecompute: full\n",
    "INI": "parallel: {data: 4}\nsharding: {states: INI, group: 2}\n",
    "tensor": "parallel: {tensor: 2, data: 2}\nsharding: GGG\noverlap: {tensor_gradients: false}\n",
}


@contextlib.contextmanager
def port() -> Iterator[int]:
    """A port that is kept from other programs; a server that reuses addresses can have it."""
    with socket.socket() as kept:
        kept.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        kept.bind(("localhost", 0))
        yield kept.getsockname()[1]


def rank_of(program: Path, rank: int, port: int, answer: Path, traces: str | None) -> None:
    """One rank of a program, whose output goes to a file."""
    os.environ |= {"RANK": str(rank), "LOCAL_RANK": str(rank), "WORLD_SIZE": str(RANKS)}
    os.environ |= {"MASTER_ADDR": "localhost", "MASTER_PORT": str(port)}
    with open(answer, "w") as out:
        os.dup2(out.fileno(), 1)
        train = runpy.run_path(str(program), run_name="program")["train"]
        train(5 if traces else 3, 1e-2, 1.0, str(answer.parent), traces)


def losses(name: str, folder: Path, traces: str | None = None) -> list[float]:
    """What the program of a plan learns, step by step; with traces of its steps in a folder."""
    (folder / "plan.yaml").write_text(PLAN + PLANS[name])
    program = folder / "program.py"
    command = [COMMAND, "export", "--to", "fsdp", "--plan", folder / "plan.yaml", "-o", program]
    subprocess.run(command, check=True, capture_output=True)
    fork = multiprocessing.get_context("fork")  # PyTorch is loaded once
    with port() as number:
        ranks = [
            fork.Process(target=rank_of, args=(program, r, number, folder / f"{r}.txt", traces))
            for r in range(RANKS)
        ]
        for rank in ranks:
            rank.start()
        for rank in ranks:
            rank.join(timeout=600)
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


def answer_of(*words: object) -> dict:
    """The JSON of a command that must succeed."""
    command = [COMMAND, *map(str, words), "--json"]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


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

    def test_from_a_configuration_and_a_log_to_a_better_plan(self):
        """The five commands of docs/logs.md, on a job of FSDP."""
        torch.set_num_threads(1)
        with tempfile.TemporaryDirectory() as folder:
            place = Path(folder)
            losses("ZeRO-3", place, folder)
            traces = sorted(place.glob("trace.*"))
            self.assertEqual(len(traces), RANKS)
            mine, measured = place / "mine.yaml", place / "measured.json"
            cluster = ["--cluster", "dgx-h100"]
            answer_of("import", "--from", "fsdp", place / "program.py", *cluster, "-o", mine)
            before = answer_of("predict", mine)
            compared = answer_of("compare", mine, "--log", *traces)
            self.assertEqual(compared["differences"], [])
            self.assertEqual(compared["steps"], 3)
            profile = answer_of("fit", *traces, "--plan", mine, "-o", measured)
            kinds = {(law["operator"], law["phase"]) for law in profile["computations"]}
            self.assertLessEqual(
                {("linear", "weight_gradient"), ("attention", "forward"), ("norm", "forward")},
                kinds,
            )
            operations = {law["operation"]: law["rows"] for law in profile["messages"]}
            self.assertGreater(operations["all_gather"], 0)
            self.assertGreater(operations["reduce_scatter"], 0)
            after = answer_of("predict", mine, "--set", f"measured={measured}")
            self.assertGreater(after["step_time_s"], before["step_time_s"])  # no H100
            job = mine.read_text().split("job:\n", 1)[1].split("parallel:", 1)[0]
            lines = [line[2:] for line in job.splitlines() if "kernels:" not in line]
            (place / "job.yaml").write_text(
                "\n".join(["stepwright: job/1", *lines, f"measured: {measured}", ""])
            )
            best = place / "best.yaml"
            tuned = answer_of("tune", place / "job.yaml", "--against", mine, "-o", best)
            self.assertLessEqual(tuned["plans"][0]["step_time_s"], after["step_time_s"])
            subprocess.run(
                [COMMAND, "export", "--to", "fsdp", "--plan", best, "-o", place / "better.py"],
                check=True,
                capture_output=True,
            )
            self.assertIn("PLAN = json.loads", (place / "better.py").read_text())


if __name__ == "__main__":
    unittest.main()

"""What the planner says of a config.json."""

import json
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

COMMAND = os.environ["STEPWRIGHT_COMMAND"]
BAD_VALUE, UNSUPPORTED = 2, 3  # exit codes


class RefusedError(Exception):
    """The planner says no to a configuration; the message is its own."""


class CrashedError(Exception):
    """The planner ends as it never may."""


@dataclass
class Answer:
    parameters: int
    flops: float
    tensors: dict[str, list[int]] | None  # None: the weights of this family are not read


def answer_for(config: Path, length: int) -> Answer:
    """Parameters, FLOPs of a forward of one sequence, and the tensors that are read."""
    entry = described(config, length)
    try:
        tensors = described(config, length, "--tensors")["tensors"]
    except RefusedError:
        tensors = None
    return Answer(entry["parameters"], entry["forward_flops_per_token"] * length, tensors)


def described(config: Path, length: int, *options: str) -> dict:
    words = [COMMAND, "list", "models", "--config", str(config), "--length", str(length), "--json"]
    done = subprocess.run([*words, *options], capture_output=True, text=True, check=False)
    said = done.stderr.strip()
    of_the_file = done.returncode == BAD_VALUE and str(config) in said
    if done.returncode == UNSUPPORTED or of_the_file:
        raise RefusedError(said)
    if done.returncode != 0:
        raise CrashedError(f"exit code {done.returncode}: {said}")
    return json.loads(done.stdout)[0]

"""Every option of every command that takes a number refuses what is no finite number of its range,
by name and with exit code 2. The options are read from the help of the commands, so that a new one
is held against this, too. Runs in the root of the repository; STEPWRIGHT_COMMAND names the
command."""

import os
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path.cwd()
COMMAND = Path(os.environ.get("STEPWRIGHT_COMMAND", "build/release/stepwright")).absolute()
PLAN = "examples/llama-3-70b.plan.yaml"
JOB = "examples/inline-model.yaml"

# What stands for the value of an option in help: of numbers, and of all else.
NUMBERS = set(
    [
        "N",
        "S",
        "P",
        "X",
        "R",
        "B",
        "E",
        "D",
        "INT",
        "FLOAT",
        "SECONDS",
        "BYTES",
        "SHARE",
        "NUMBER",
        "RATE",
        "TIME",
        "STEPS",
        "SIZE",
        "NORM",
    ]
)
WORDS = set(
    [
        "RUNS",
        "PATH",
        "FILE",
        "PLAN",
        "JOB",
        "DIR",
        "HTML",
        "CSV",
        "NAME",
        "TEXT",
        "F",
        "HOW",
        "KIND",
        "FORMAT",
        "DEVICE",
        "TYPE",
        "MESSAGE",
        "RELEASE",
        "LAB",
        "PROFILE",
        "BATCH",
        "SAMPLES",
    ]
)
VALUES = [
    "nan",
    "inf",
    "-inf",
    "1e400",
    "-1",
    "1e308",
    "0x10",
    "",
    " 1",
    "1e999999999999",
    "\u0661",
]
# What a command needs beside the option, so that it comes to look at a number. Commands that start
# programs name files that are not there: they end before they start any.
BESIDE = {
    "init": [
        "--model",
        "llama-3-8b",
        "--cluster",
        "dgx-h100",
        "-o",
        "new.yaml",
        "--force",
        "--gpus=8",
        "--batch=64",
        "--length=128",
    ],
    "tune": [JOB],
    "predict": [PLAN],
    "run": [PLAN, "--tokens", "1T"],
    "phases": ["none.yaml"],
    "traffic": [PLAN],
    "memory": [PLAN],
    "study": ["collectives", "dgx-h100", "--nodes=1"],
    "interleave": ["none.yaml"],
    "sample": ["operators", "-o", "none/samples.csv"],
    "lab run": ["none.yaml", "true"],
    "train": ["none.yaml"],
    "checkpoint": ["convert", "none", "-o", "out", "--format", "huggingface"],
    "characterize": ["--log", "none.log"],
    "diagnose": ["none.log"],
    "export": [PLAN, "--to", "megatron"],
    "capture": ["--", "false"],
    "import": ["none.sh"],
    "check": [PLAN],
    "serve": ["--page", "none.html"],
    "lengths": ["none.jsonl", "--field", "text"],
    "list": ["models", "--config", "none.json"],
}
# Any finite number is right.
FREE = {("train", "--weight-decay")}


def run(words, folder):
    return subprocess.run(
        [COMMAND, *words], capture_output=True, text=True, cwd=folder, timeout=60, check=False
    )


def commands():
    """All commands, and those below a command."""
    said = subprocess.run([COMMAND, "nothing"], capture_output=True, text=True, check=False)
    listed = subprocess.run([COMMAND, "--help"], capture_output=True, text=True, check=True).stdout
    assert said.returncode == 2
    names = re.findall(r"^  ([a-z]+)  +\S", listed.split("Subcommands:")[1], re.M)
    inner = subprocess.run([COMMAND, "lab", "--help"], capture_output=True, text=True, check=True)
    below = re.findall(r"^  ([a-z]+)  +\S", inner.stdout.split("Subcommands:")[1], re.M)
    return names + [f"lab {name}" for name in below]


def options(command):
    """Options with a value and what stands for it."""
    text = subprocess.run(
        [COMMAND, *command.split(), "--help"], capture_output=True, text=True, check=True
    ).stdout
    found = []
    for line in text.splitlines():
        option = re.match(r"  (?:-\w,)?(--[a-z0-9-]+) ([A-Z][^ ]*)", line)
        if option and "{" not in option[2] and option[2] not in ("Excludes:", "Needs:"):
            found.append((option[1], re.split(r"[:=]", option[2])[0]))
    return found


class Numbers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.options = {command: options(command) for command in commands()}

    def test_every_option_is_known_as_a_number_or_a_word(self):
        for command, listed in self.options.items():
            for name, kind in listed:
                self.assertIn(kind, NUMBERS | WORDS, f"{command} {name}")

    def numbers(self):
        for command, listed in self.options.items():
            for name, kind in listed:
                if kind in NUMBERS:
                    yield command, name

    def test_bad_numbers_are_refused_by_name(self):
        numbers = list(self.numbers())
        self.assertGreater(len(numbers), 60)
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "examples").symlink_to(ROOT / "examples")
            for command, name in numbers:
                for value in VALUES:
                    with self.subTest(command=command, option=name, value=value):
                        self.refuses(command, name, value, folder)

    def refuses(self, command, name, value, folder):
        beside = [word for word in BESIDE[command] if not word.startswith(f"{name}=")]
        split = beside.index("--") if "--" in beside else len(beside)
        words = [*command.split(), *beside[:split], f"{name}={value}", *beside[split:]]
        done = run(words, folder)
        if value == "" and done.returncode == 0:
            return  # as if the option were absent
        if value == "-1" and (command, name) in FREE:
            return
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn(name, done.stderr)
        digits = re.findall(r"[0-9]{30,}", done.stderr.replace(value, ""))
        self.assertEqual(digits, [], done.stderr)


if __name__ == "__main__":
    unittest.main()

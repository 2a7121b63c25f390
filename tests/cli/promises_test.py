"""The promises of SECURITY.md: reading a file runs no code of it, and a command that plans or reads
opens no socket, starts no program and writes no file that its command line does not name.

Runs in the root of the repository. STEPWRIGHT_COMMAND names the command, STEPWRIGHT_WATCHER the
library of watch.cpp, which writes down what the command asks of the system."""

import json
import os
import pickle
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

from numbers_test import commands

ROOT = Path(__file__).resolve().parents[2]
COMMAND = Path(os.environ.get("STEPWRIGHT_COMMAND", "build/release/stepwright")).absolute()
WATCHER = Path(
    os.environ.get("STEPWRIGHT_WATCHER", "build/release/tests/cli/libstepwright_watch.so")
)
PLAN = ROOT / "examples/llama-3-70b.plan.yaml"
JOB = ROOT / "examples/inline-model.yaml"
SCRIPT = ROOT / "examples/llama-3-70b.megatron.sh"
LOG = ROOT / "tests/logs/data/ddp.trace.0.json.gz"
INIT = ["--model", "llama-3-8b", "--cluster", "dgx-h100", "--gpus", "8", "--batch", "8x128"]
ON_CLUSTER = ["--from", "megatron", "--cluster", "dgx-h100", "--nodes", "64"]
# Commands that may ask for sockets or programs.
ASKING = {"serve", "train", "sample", "lab", "doctor", "capture"}
TARGETS = ["megatron", "torchtitan", "fsdp", "deepspeed", "nemo", "accelerate", "axolotl"]


class Run:
    """One run of the command in a folder of its own, and what it asked of the system."""

    def __init__(self, folder: Path, *arguments):
        notes = folder / "watch.txt"
        environment = {
            "HOME": str(folder),
            "TMPDIR": str(folder),
            "PATH": os.environ["PATH"],
            "LD_PRELOAD": str(WATCHER.absolute()),
            "STEPWRIGHT_WATCH": str(notes),
        }
        self.words = [str(word) for word in arguments]
        done = subprocess.run(
            [COMMAND, *self.words],
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            errors="replace",
            stdin=subprocess.DEVNULL,
            timeout=300,
            check=False,
        )
        self.code, self.out, self.errors = done.returncode, done.stdout, done.stderr
        self.calls = notes.read_text(encoding="utf-8").split("\n")[:-1] if notes.exists() else []
        notes.unlink(missing_ok=True)


class Promises(unittest.TestCase):
    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))

    def quiet(self, *arguments, outputs=(), code=0) -> Run:
        """Runs a command that may only write `outputs`, files beside them that become them, and
        nothing else."""
        run = Run(self.folder, *arguments)
        self.assertEqual(run.code, code, f"{run.words}: {run.errors}")
        folders = {str(Path(self.folder, output).parent) for output in outputs}
        for call in run.calls:
            what, _, name = call.partition(" ")
            self.assertIn(what, {"writes", "removes"}, f"{run.words}: {call}")
            self.assertIn(str(Path(self.folder, name).parent), folders, f"{run.words}: {call}")
        self.assertEqual(
            {one.name for one in self.folder.iterdir()},
            {Path(output).name for output in outputs},
            f"{run.words}",
        )
        for output in outputs:
            Path(self.folder, output).unlink()
        return run

    def test_the_watcher_sees(self):
        """Without this, a library that sees nothing would let all others pass."""
        run = Run(self.folder, "tune", JOB, "-o", "plan.yaml")
        self.assertEqual(run.code, 0, run.errors)
        self.assertTrue(any(call.startswith("writes ") for call in run.calls), run.calls)
        run = Run(self.folder, "capture", "-o", "launch.json", "--", "true")
        self.assertTrue(any(call.startswith("starts ") for call in run.calls), run.calls)

    def test_planning_asks_nothing_of_the_system(self):
        rows = [
            ["tune", JOB, "--json"],
            ["init", *INIT],
            ["predict", PLAN, "--json"],
            ["memory", PLAN],
            ["memory", PLAN, "--snapshot", ROOT / "tests/snapshot/data/torch-2.9.pickle"],
            ["traffic", PLAN],
            ["explain", PLAN],
            ["run", ROOT / "examples/whole-run.yaml"],
            ["phases", ROOT / "examples/grpo.yaml"],
            ["study", "collectives", "dgx-h100", "--nodes", "1"],
            ["interleave", PLAN],
            ["list", "models"],
            ["completion", "bash"],
            ["mcp"],
            ["check", SCRIPT, *ON_CLUSTER],
            ["import", SCRIPT, *ON_CLUSTER],
            ["export", "--plan", PLAN, "--to", "megatron"],
            ["fit", "--runs", ROOT / "data/own_runs_h100.csv"],
            ["validate", ROOT / "data/own_runs_h100.csv"],
            ["characterize", "--log", LOG],
            ["compare", PLAN, "--log", LOG],
            ["diagnose", ROOT / "tests/diagnose/data/exception/log.txt"],
            ["lengths", self.documents(), "--field", "ids"],
            ["checkpoint", "show", self.folder],
            ["lab", "profile", ROOT / "examples/lab-4x4.yaml"],
        ]
        self.assertEqual({row[0] for row in rows} | ASKING, {one.split()[0] for one in commands()})
        for arguments in rows:
            with self.subTest(arguments[0]):
                run = Run(self.folder, *arguments)
                self.assertIn(run.code, {0, 1, 2}, f"{run.words}: {run.errors}")
                self.assertEqual(run.code == 2, arguments[0] == "checkpoint", run.errors)
                self.assertEqual(run.calls, [], run.words)

    def documents(self):
        path = self.folder / "documents.jsonl"
        path.write_text('{"ids": [1, 2]}\n', encoding="utf-8")
        return path

    def test_only_named_files_are_written(self):
        self.quiet("tune", JOB, "-o", "plan.yaml", outputs=["plan.yaml"])
        self.quiet("predict", PLAN, "--report", "page.html", outputs=["page.html"])
        for target in TARGETS:
            with self.subTest(target):
                run = Run(self.folder, "export", "--plan", PLAN, "--to", target, "-o", "file")
                wrong = [
                    call for call in run.calls if call.split(" ")[0] not in ("writes", "removes")
                ]
                self.assertEqual(wrong, [], run.words)
                for call in run.calls:
                    path = Path(self.folder, call.partition(" ")[2])
                    self.assertEqual(path.parent, self.folder, call)


class Canary:
    """A pickle that makes a file when something runs it."""

    def __init__(self, path: Path):
        self.path = path

    def __reduce__(self):
        return (os.system, (f"touch {self.path}",))


class NoCodeRuns(unittest.TestCase):
    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.canary = self.folder / "canary"

    def given(self, name: str, content: str | bytes) -> Path:
        path = self.folder / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    def read(self, *arguments) -> Run:
        """Runs the command and asserts that the canary was not made and no program was started."""
        run = Run(self.folder, *arguments)
        self.assertIn(run.code, {0, 1, 2, 3}, f"{run.words}: {run.errors}")
        self.assertFalse(self.canary.exists(), f"{run.words} ran code of its file")
        self.assertEqual([call for call in run.calls if call.startswith("starts")], [], run.words)
        return run

    def test_of_a_pickle(self):
        for content in [
            pickle.dumps(Canary(self.canary)),
            pickle.dumps({"entries": [Canary(self.canary)], "version": "2.4"}),
        ]:
            self.read("characterize", self.given("recorder.pickle", content))

    def test_of_yaml(self):
        harm = f"!!python/object/apply:os.system ['touch {self.canary}']"
        for text in [harm, f"model: {harm}\n", f"job: {{model: {harm}}}\n"]:
            path = self.given("job.yaml", text)
            for command in ["tune", "predict", "check"]:
                self.read(command, path)

    def test_of_a_shell_script(self):
        words = [
            f"touch {self.canary}",
            f"x=$(touch {self.canary})",
            f"echo `touch {self.canary}`",
            f"eval 'touch {self.canary}'",
            f"source <(echo touch {self.canary})",
            f"cat > {self.canary} <<X\nX",
            f"trap 'touch {self.canary}' EXIT",
        ]
        for word in words:
            path = self.given("run.sh", f"{word}\n{SCRIPT.read_text(encoding='utf-8')}")
            self.read("check", path, "--cluster", "dgx-h100", "--nodes", "64")
            self.read("import", path, "--from", "megatron", "--cluster", "dgx-h100")

    def test_of_a_python_program(self):
        text = f"import os\nos.system('touch {self.canary}')\nopen({str(self.canary)!r}, 'w')\n"
        path = self.given("train.py", text + "from transformers import Trainer\n")
        self.given("run.sh", f"torchrun --nproc_per_node 8 {path}\n")
        self.read("check", path, "--cluster", "dgx-h100")
        self.read("check", self.folder / "run.sh", "--cluster", "dgx-h100")

    def test_of_json(self):
        value = json.dumps(
            {"model_type": "llama", "auto_map": {"AutoConfig": f"touch {self.canary}"}}
        )
        self.read("predict", PLAN, "--set", f"job.model={self.given('config.json', value)}")


if __name__ == "__main__":
    if not WATCHER.exists():
        raise SystemExit(f"{WATCHER} is missing: cmake --build --preset release")
    assert shutil.which("touch")
    unittest.main()

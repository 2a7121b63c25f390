"""`init` asks on a terminal and nowhere else; `doctor` says what is there and what is not."""

import json
import os
import pty
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

COMMAND = Path(os.environ.get("STEPWRIGHT_COMMAND", "build/release/stepwright")).absolute()
FLAGS = ["--model", "llama-3-8b", "--cluster", "dgx-h100", "--gpus", "8", "--batch", "64x4096"]


def on_a_terminal(arguments, typed, folder):
    """Exit code and what the terminal shows when a person has typed so many lines."""
    child, terminal = pty.fork()
    if child == 0:
        os.chdir(folder)
        os.execv(COMMAND, [str(COMMAND), *arguments])
    os.write(terminal, typed.encode())
    shown = b""
    try:
        while block := os.read(terminal, 4096):
            shown += block
    except OSError:  # the other end is closed
        pass
    os.close(terminal)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), shown.decode()


class Init(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def flags_of(self, *arguments):
        run = subprocess.run(
            [COMMAND, "init", *arguments],
            cwd=self.folder,
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            check=False,
        )
        return run.returncode, run.stdout, run.stderr

    def test_asks_for_what_no_flag_says(self):
        typed = "llama-3-8b\ndgx-h100\n8\n64\n4096\n\n\n"
        code, shown = on_a_terminal(["init", "-o", "job.yaml"], typed, self.folder)
        self.assertEqual(code, 0, shown)
        self.assertEqual((self.folder / "job.yaml").read_text(), self.text())

    def text(self):
        code, _, messages = self.flags_of(*FLAGS, "-o", "job.yaml", "--force")
        self.assertEqual(code, 0, messages)
        return (self.folder / "job.yaml").read_text()

    def test_asks_for_nothing_that_a_flag_says(self):
        arguments = ["init", *FLAGS[:4], "--batch", "64x4096", "-o", "job.yaml"]
        code, shown = on_a_terminal(arguments, "8\n\n\n", self.folder)
        self.assertEqual(code, 0, shown)
        self.assertIn("GPUs in all: ", shown)
        for question in ("Model", "Cluster", "Sequences", "Tokens"):
            self.assertNotIn(question, shown)
        self.assertEqual((self.folder / "job.yaml").read_text(), self.text())

    def test_asks_again_after_a_wrong_answer(self):
        typed = "llama-3-80b\nllama-3-8b\n\n\n"
        code, shown = on_a_terminal(["init", *FLAGS[2:], "-o", "job.yaml"], typed, self.folder)
        self.assertEqual(code, 0, shown)
        self.assertIn("did you mean 'llama-3-70b'", shown)

    def test_asks_what_is_trained_and_by_which_framework(self):
        typed = "lore\nlora\nmegatron\nnemo\n"
        code, shown = on_a_terminal(["init", *FLAGS, "-o", "job.yaml"], typed, self.folder)
        self.assertEqual(code, 0, shown)
        self.assertIn("did you mean 'lora'", shown)
        text = (self.folder / "job.yaml").read_text()
        self.assertIn("\nadapters: {rank: 16, alpha: 32, targets: all}\n", text)
        self.assertIn("\nobjective: {kind: sft}\n", text)
        self.assertIn("\nframework: nemo\n", text)

    def test_ends_when_nobody_answers(self):
        end = "\x04"
        code, shown = on_a_terminal(["init", "-o", "job.yaml"], end, self.folder)
        self.assertEqual(code, 2, shown)
        self.assertIn("--model was not answered", shown)
        self.assertFalse((self.folder / "job.yaml").exists())

    def test_never_asks_without_a_terminal(self):
        code, shown, messages = self.flags_of("--model", "llama-3-8b")
        self.assertEqual((code, shown), (2, ""))
        self.assertIn("init needs --cluster, --gpus, --batch, --length", messages)


class Capture(unittest.TestCase):
    def test_asks_before_a_script_runs(self):
        for typed, ran in (("n\n", False), ("\n", False), ("y\n", True)):
            with tempfile.TemporaryDirectory() as folder:
                Path(folder, "run.sh").write_text("touch ran\ntorchrun train.py\n")
                words = ["capture", "-o", "launch.json", "--", "bash", "run.sh"]
                code, shown = on_a_terminal(words, typed, folder)
                self.assertIn("Go on? [y/N]", shown)
                self.assertEqual(code, 0 if ran else 2, shown)
                self.assertEqual(Path(folder, "ran").exists(), ran, shown)


class Doctor(unittest.TestCase):
    def test_names_what_is_missing_and_what_to_do(self):
        run = subprocess.run([COMMAND, "doctor", "--json"], capture_output=True, check=False)
        answer = json.loads(run.stdout)
        text = subprocess.run(
            [COMMAND, "doctor"], capture_output=True, text=True, check=False
        ).stdout
        abilities = {ability["name"]: ability for ability in answer["abilities"]}
        self.assertEqual(list(abilities), ["plan", "serve", "train", "lab", "gpu"])
        self.assertTrue(abilities["plan"]["ready"])
        for name, ability in abilities.items():
            self.assertEqual(ability["ready"], not ability["missing"], name)
            self.assertIn(f"\n{name} ", text)
            for lack in ability["missing"]:
                self.assertIn(lack["what"], text)
                self.assertIn(lack["remedy"], text)

    def test_finds_the_program_that_trains_where_it_is(self):
        with tempfile.TemporaryDirectory() as folder:
            copy = Path(folder) / "stepwright"
            shutil.copy(COMMAND, copy)
            self.assertIn("stepwright-rank is missing", self.missing_for_training(copy))
            (Path(folder) / "stepwright-rank").touch()
            self.assertEqual(self.missing_for_training(copy), "")

    def missing_for_training(self, command):
        run = subprocess.run([command, "doctor", "--json"], capture_output=True, check=False)
        (train,) = (a for a in json.loads(run.stdout)["abilities"] if a["name"] == "train")
        return "".join(lack["what"] for lack in train["missing"])


if __name__ == "__main__":
    unittest.main()

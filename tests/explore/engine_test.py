"""The engine of the explorer says what the command says. Skipped where it was not built, or where
there is no Node. Runs in the root of the repository."""

import json
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import explorer

EXAMPLES = Path("examples")
# Logarithms and powers of two C libraries differ in their last bit, and sums carry that on.
CLOSE = 1e-12


def hindrance() -> str | None:
    if shutil.which("node") is None:
        return "no Node is installed (make engine)"
    if not explorer.PAGE.exists():
        return f"{explorer.PAGE} is not there (make engine)"
    return None


def differences(ours, theirs, path="") -> list[str]:
    """Where two answers differ by more than rounding."""
    if isinstance(ours, dict) and isinstance(theirs, dict) and list(ours) == list(theirs):
        return [d for key in ours for d in differences(ours[key], theirs[key], f"{path}.{key}")]
    if isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        pairs = enumerate(zip(ours, theirs, strict=True))
        return [d for i, (a, b) in pairs for d in differences(a, b, f"{path}.{i}")]
    if isinstance(ours, float) and isinstance(theirs, float):
        same = abs(ours - theirs) <= CLOSE * abs(theirs)
    else:
        same = ours == theirs
    return [] if same else [f"{path}: {ours} instead of {theirs}"]


class Engine(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.module = cls.folder / "engine.wasm"
        cls.module.write_bytes(explorer.engine())

    def ask(self, *questions: dict) -> list[dict]:
        done = subprocess.run(
            ["node", "tests/explore/ask.mjs", self.module],
            input="".join(json.dumps(question) + "\n" for question in questions),
            capture_output=True,
            text=True,
            check=False,
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def command(self, *arguments) -> dict:
        done = subprocess.run(
            [explorer.COMMAND, *arguments, "--json"], capture_output=True, text=True, check=True
        )
        return json.loads(done.stdout)

    def test_a_prediction_of_every_example_is_that_of_the_command(self):
        jobs = [
            path
            for path in sorted(EXAMPLES.glob("*.yaml"))
            if re.search("^stepwright: (job|plan)/", path.read_text(), re.M)
        ]
        questions = [
            {"ask": "predict", "text": path.read_text(), "name": path.name} for path in jobs
        ]
        self.assertGreaterEqual(len(jobs), 9)
        for path, answer in zip(jobs, self.ask(*questions), strict=True):
            with self.subTest(path.name):
                self.assertNotIn("error", answer)
                plan = self.folder / "plan.json"
                plan.write_text(json.dumps(answer["plan"]), encoding="utf-8")
                told = self.command("predict", plan)
                del told["remedies"]  # A question of its own in the page.
                del told["made_by"]  # The page holds one planner.
                self.assertEqual(differences(answer["prediction"], told), [])
                told = self.command("memory", plan)
                self.assertEqual(differences(answer["memory"]["stages"], told["stages"]), [])

    def test_a_search_finds_what_the_command_finds(self):
        job = {"stepwright": "job/2", "model": "llama-3-8b"}
        job |= {"cluster": {"profile": "dgx-h100", "nodes": 1}}
        job |= {"batch": {"sequences": 64, "length": 4096}}
        file = self.folder / "job.json"
        file.write_text(json.dumps(job), encoding="utf-8")
        [answer] = self.ask({"ask": "tune", "text": json.dumps(job), "name": "job"})
        # The page knows no files of frameworks, after which `tune` orders its answer.
        found = self.command("study", "search", file)["choices"][0]
        self.assertEqual(answer["plans"][0]["plan"], found["plan"])
        best = found["step_time_s"]
        self.assertLess(abs(answer["plans"][0]["step_time_s"] - best), CLOSE * best)

    def test_what_is_wrong_is_said_in_the_words_of_the_command(self):
        text = "stepwright: plan/2\njob: {model: llama-4-70b}\n"
        plan = self.folder / "bad.yaml"
        plan.write_text(text, encoding="utf-8")
        [answer, refused] = self.ask(
            {"ask": "predict", "text": text, "name": str(plan)}, {"ask": "sing"}
        )
        done = subprocess.run(
            [explorer.COMMAND, "predict", plan], capture_output=True, text=True, check=False
        )
        self.assertEqual(done.returncode, 2)
        self.assertIn(answer["error"], done.stderr)
        self.assertIn("sing", refused["error"])


if __name__ == "__main__":
    if (why := hindrance()) is not None:
        print("skipped:", why)
        sys.exit(77)
    unittest.main()

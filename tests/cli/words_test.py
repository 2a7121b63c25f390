"""Every option of every command whose value is a word refuses a word that it does not know, and
options that mean nothing beside others are refused, by name and with exit code 2. So are two
outputs of one name. The options are read from the help of the commands, so that a new one is held
against this, too. Runs in the root of the repository; STEPWRIGHT_COMMAND names the command."""

import itertools
import re
import tempfile
import unittest
from pathlib import Path

import bounds
from numbers_test import COMMAND, JOB, PLAN, ROOT, WORDS, commands, options, run

NOBODY = "nosuch-zz"
MESSAGES = "data/collectives/gh200_120g_vista.csv"
IDS = ("lengths", "documents.jsonl", "--field", "ids")
SCRIPT = "examples/llama-3-70b.megatron.sh"
IMPORTED = [SCRIPT, "--from", "megatron", "--cluster", "dgx-h100:8"]
# What a command needs beside the option, so that it comes to look at the word.
BESIDE = {
    "init": ["--model=llama-3-8b", "--cluster=dgx-h100", "--gpus=8", "--batch=8", "--length=128"],
    "tune": [JOB, "--top=1", "--threads=1"],
    "predict": [PLAN],
    "run": [PLAN, "--tokens=1T"],
    "phases": [PLAN],
    "traffic": [PLAN],
    "memory": [PLAN],
    "study": ["collectives", "dgx-h100", "--nodes=1"],
    "interleave": [PLAN],
    "sample": ["operators", "-o", "samples.csv"],
    "fit": ["data/operators/a100_sxm4_80g.csv", "--output=p.json"],
    "validate": ["data/memory.csv"],
    "train": ["examples/tiny-llama.plan.yaml", "--data=README.md"],
    "checkpoint": ["convert", "none", "--output=out", "--format=huggingface"],
    "characterize": ["--log=none.log"],
    "diagnose": [SCRIPT, "none.log"],
    "compare": [PLAN, "--log=none.log"],
    "export": [PLAN, "--to=megatron"],
    "import": IMPORTED,
    "check": IMPORTED,
    "lengths": ["documents.jsonl", "--field=text"],
    "list": ["models", "--config=none.json"],
    "lab profile": ["none.yaml"],
}
# Words beside single options that need others than their command does.
BESIDE_OPTION = {("fit", "--snapshot"): [PLAN, "--output=p.json"]}
# Any word is right: names of outputs, and of what the command makes.
OUTPUTS = {"--output", "--report", "--trace", "--program", "--matrix", "--row", "--checkpoint"}
OUTPUTS |= {"--ledger", "--metrics", "--weights", "--gradients", "--summary", "--logits"}
OUTPUTS |= {"--write-snapshot"}
FREE = {("fit", "--name"), ("train", "--memory")}
# Folders that are looked at once the checkpoint has been read.
FREE |= {("checkpoint", "--merge"), ("checkpoint", "--base")}


class Words(unittest.TestCase):
    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        for name in ("examples", "data", "README.md"):
            (self.folder / name).symlink_to(ROOT / name)
        (self.folder / "documents.jsonl").write_text('{"text": "a", "ids": [1]}\n')

    def refused(self, *words):
        done = run(words, self.folder)
        self.assertEqual(done.returncode, 2, f"{words}: {done.stdout[-200:]}{done.stderr[-400:]}")
        return done.stderr

    def test_a_word_that_nobody_knows_is_refused(self):
        asked = 0
        for command in commands():
            if command == "train" and not bounds.trains():
                continue
            for name, kind in options(command):
                if kind not in WORDS or name in OUTPUTS or (command, name) in FREE:
                    continue
                if command not in BESIDE:
                    continue
                needed = BESIDE_OPTION.get((command, name), BESIDE[command])
                beside = [word for word in needed if not word.startswith(f"{name}=")]
                with self.subTest(command=command, option=name):
                    said = self.refused(*command.split(), *beside, f"{name}={NOBODY}")
                    self.assertTrue(NOBODY in said or name in said, said)
                    asked += 1
        self.assertGreater(asked, 40)

    def test_options_that_mean_nothing_beside_others_are_refused(self):
        for words, said in {
            ("validate", "data/memory.csv", "--tier", "A"): "--tier",
            ("validate", "data/memory.csv", "--conditions", "README.md"): "--conditions",
            ("validate", "data/training_runs.csv", "--tier", "Z"): "--tier",
            ("export", PLAN, "--to", "megatron", "--release", "inf"): "--release",
            ("predict", PLAN, "--set", "framework={name: nemo, version: inf}"): "framework.version",
            ("import", *IMPORTED, "--function", "f"): "--function",
            ("import", *IMPORTED, "--timeout", "3"): "--capture",
            ("import", *IMPORTED, "--gpus-per-node", "8"): "--capture",
            ("check", PLAN, "--model", "llama-3-8b"): "--model",
            ("check", PLAN, "--nodes", "3"): "--nodes",
            ("check", PLAN, "--command", "1"): "--command",
            ("run", PLAN, "--tokens", "1T", "--seed", "2"): "--simulate",
            ("study", "collectives", "dgx-h100", "--every-rank"): "--simulate",
            ("tune", JOB, "--next", "2"): "--runs",
            ("tune", JOB, "--runs", "none.csv", "--report", "r.html"): "--report",
            ("tune", JOB, "--runs", "none.csv", "-v"): "--verbose",
            ("fit", "data/operators/a100_sxm4_80g.csv", "-o", "p", "--conditions", "c"): "--runs",
            ("fit", "data/operators/a100_sxm4_80g.csv", "-o", "p", "--profile", "p"): "--profile",
            ("train", PLAN, "--hold", "--lr", "1"): "--lr",
            ("train", PLAN, "--data", "README.md", "--min-lr", "1"): "--min-lr",
            ("sample", "collectives", "-o", "s.csv", "--dtype", "bf16"): "--dtype",
            ("sample", "operators", "-o", "s.csv", "--plan", PLAN): "--plan",
            ("lengths", "none.yaml", "--field", "x"): "--field",
            ("tune", JOB, "--top", "1", "--top", "2"): "--top: is given 2 times; one is allowed",
            (*IDS, "--characters-per-token", "4"): "--characters-per-token",
            ("fit", MESSAGES, "-o", "p", "--name", "n"): "--name",
            ("fit", "data/x.csv", "--plan", PLAN, "-o", "p", "--name", "n"): "--name",
        }.items():
            with self.subTest(words=words):
                self.assertIn(said, self.refused(*words))

    def test_upper_and_lower_case_are_the_same_word(self):
        done = run(["list", "Models"], self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        for term in ("MFU", "mfu", "Micro-Batch", "algbw"):
            self.assertEqual(run(["explain", term], self.folder).returncode, 0, term)


class Typed(unittest.TestCase):
    """What people type without looking it up."""

    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        (self.folder / "examples").symlink_to(ROOT / "examples")

    def done(self, *words, code=0):
        done = run(words, self.folder)
        self.assertEqual(done.returncode, code, done.stderr)
        return done

    def test_sizes_of_a_batch_as_people_say_them(self):
        done = self.done("predict", PLAN, "--set", "batch.length=8k", "--set", "batch.sequences=1k")
        self.assertIn("batch.length: 8k is read as 8,192.", done.stdout)
        self.assertIn("batch.sequences: 1k is read as 1,024.", done.stdout)
        job = ["init", "--model", "llama-3-8b", "--cluster", "dgx-h100", "--gpus", "8", "--batch"]
        gpt = ROOT / "tests/model/corpus/model_config_fuzz/gpt2.json"
        listed = ["list", "models", "--json", "--config", gpt, "--length"]
        said = self.done(*listed, "1k").stdout
        self.assertEqual(said, self.done(*listed, "1024").stdout)
        self.assertNotEqual(said, self.done(*listed, "512").stdout)
        for size in (["64x4k"], ["64", "--length", "4K"]):
            self.assertIn("length: 4096", self.done(*job, *size).stdout)
        text = (ROOT / JOB).read_text()
        (self.folder / "job.yaml").write_text(
            re.sub(r"batch: .*", "batch: {tokens: 1M, length: 4k}", text)
        )
        said = self.done("tune", "job.yaml", "--top", "1", "--json").stdout
        self.assertIn("batch.tokens: 1M is read as 1,048,576.", said)
        (self.folder / "job.yaml").write_text(
            re.sub(r"batch: .*", "batch: {tokens: 10000, length: 4k}", text)
        )
        said = self.done("tune", "job.yaml", code=2).stderr
        self.assertIn("a multiple of the length 4096; the nearest are 8192 and 12288", said)

    def test_a_batch_that_does_not_divide_has_its_nearest(self):
        said = self.done("predict", PLAN, "--set", "batch.sequences=511", code=2).stderr
        self.assertIn("nearest batches: 510 and 512", said)

    def test_the_ending_of_an_exported_name_says_its_language(self):
        words = ["export", PLAN, "--nearest", "--to"]
        self.assertIn("does not", self.done(*words, "megatron", "-o", "c.py").stderr)
        self.assertIn("does not", self.done(*words, "torchtitan", "-o", "c.yaml").stderr)
        for target, name in (("megatron", "c.sh"), ("slurm", "c.sbatch"), ("torchtitan", "c.py")):
            self.assertNotIn("does not.", self.done(*words, target, "-o", name).stderr)
        said = self.done(*words, "torchtitan", "-o", "c.toml").stderr
        self.assertIn("The file is for release 0.2.2, which the ending of c.toml requires.", said)
        self.assertIn("[parallelism]", (self.folder / "c.toml").read_text())

    def test_a_file_in_which_nothing_says_whose_it_is(self):
        (self.folder / "a.py").write_text("def f():\n    return 1\n")
        (self.folder / "nemo2.py").write_text("from nemo.collections import llm\n")
        for name in ("a.py", "nemo2.py"):
            words = ["import", name, "--from", "nemo", "--cluster", "dgx-h100"]
            said = self.done(*words, code=2).stderr
            self.assertIn(f"nothing in {name} shows that it is a file of nemo", said)
        self.assertIn("a configuration of NeMo 2", said)


class Outputs(unittest.TestCase):
    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        (self.folder / "examples").symlink_to(ROOT / "examples")
        (self.folder / "link").symlink_to("x")
        (self.folder / "same").symlink_to(".")

    def refused(self, *words):
        before = sorted(path.name for path in self.folder.iterdir())
        done = run(words, self.folder)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertEqual(done.stdout, "")
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()), before)
        return done.stderr

    def test_two_outputs_of_one_name_are_refused(self):
        outputs = {
            "tune": ([JOB], ["--output", "--report"]),
            "predict": ([PLAN], ["--trace", "--program", "--report"]),
            "train": (
                ["examples/tiny-llama.plan.yaml", "--data", JOB],
                ["--ledger", "--metrics", "--weights", "--gradients", "--summary", "--memory"],
            ),
        }
        for command, (beside, names) in outputs.items():
            if command == "train" and not bounds.trains():
                continue
            for first, second in itertools.pairwise(names):
                for one, other in (("x", "x"), ("x", "./x"), ("link", "x"), ("same/x", "x")):
                    words = [command, *beside, first, one, second, other]
                    with self.subTest(words=words):
                        said = self.refused(*words)
                        self.assertIn(first, said)
                        self.assertIn(second, said)
                        self.assertIn("name the same file", said)

    def test_an_output_that_is_an_input_is_refused(self):
        for name in ("plan.yaml", "job.yaml"):
            source = PLAN if name == "plan.yaml" else JOB
            (self.folder / name).write_text((ROOT / source).read_text())
        (self.folder / "to-plan").symlink_to("plan.yaml")
        for words in (
            ["tune", "job.yaml", "-o", "./job.yaml"],
            ["tune", "job.yaml", "--against", "plan.yaml", "-o", "to-plan"],
            ["predict", "plan.yaml", "--trace", "same/plan.yaml"],
            ["traffic", "plan.yaml", "--matrix", "to-plan"],
            ["compare", "plan.yaml", "--log", "job.yaml", "--report", "job.yaml"],
            ["export", "plan.yaml", "--to", "megatron", "-o", "plan.yaml"],
            ["import", "plan.yaml", "-o", "plan.yaml"],
        ):
            with self.subTest(words=words):
                self.assertIn("name the same file", self.refused(*words))

    def test_every_output_is_known(self):
        """An option whose help says that it writes a file is one of those that are walked."""
        written = {
            name for command in commands() for name, _ in options(command) if name in OUTPUTS
        }
        self.assertEqual(written, OUTPUTS)


if __name__ == "__main__":
    assert COMMAND.exists()
    unittest.main()

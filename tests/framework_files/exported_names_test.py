"""Names in exported files are data: each file is read by its language's own parser, and run."""

import ast
import csv
import functools
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from xml.etree import ElementTree

import tomllib

try:
    import yaml
except ImportError:
    sys.exit(77)

COMMAND = Path(os.environ.get("STEPWRIGHT_COMMAND", "build/release/stepwright")).absolute()
NAMES = Path(os.environ["STEPWRIGHT_EXPORTED_NAMES"]).absolute()
TAME = "tame"
# Names that a reader takes, and that mean something in some language.
READABLE = [
    "$(touch canary)`touch canary`",
    "'; touch canary; '",
    '"; touch canary; "',
    '""" + __import__("os").system("touch canary") + """',
    "a: b # c",
    "{{ canary }} ${oc.env:HOME} %s %(x)s",
    "--canary",
    "]]> <a b='c'/> &amp;",
    "back\\slash\\",
    "Größe € 😀",
    "& touch canary |",
    "- [x, {y: z}] *a &b !!c",
]
# Names that no reader takes.
REFUSED = [
    "x\ntouch canary\n#",
    "x\r\ntouch canary\n",
    "x\rtouch canary",
    'x\n"\nimport os; os.system("touch canary")\n',
    "x\n[model]\nname = 'canary'\n",
    "x\u2028touch canary\u2029\u0085#",
    "\x1b]0;own\x07\x1b[2J\u202e\u2066\x7f\x9b",
    "x\x00y",
    "\t\v\f\ufffe",
    "=cmd|' /C calc'!A0",
]
SHELL = {"megatron", "ms-swift", "trl", "verl", "openrlhf", "torchrun", "slurm", "mpirun"}
PYTHON = {"torchtitan", "fsdp", "nemo"}
YAML = {"accelerate", "maxtext", "axolotl", "llama-factory", "torchtune", "nemo-rl"}
# The method of a job by target, for targets whose files do not pretrain.
METHODS = {
    "openrlhf": {"objective": {"kind": "sft"}},
    "verl": {"objective": {"kind": "grpo", "rollout": {}}},
    "trl": {"objective": {"kind": "sft"}},
}
STUBS = ["torchrun", "accelerate", "python3", "megatron", "srun", "scontrol", "mpirun", "touch"]


def random_names(count):
    """Names of all that is special anywhere, always the same."""
    dice = random.Random(20)
    letters = list("ab'\"\\`$(){}[]<>|&;#:,.!?*~%^=+-@/ \t\n\r\v\f\0\x1b\x7f")
    letters += ["\x80", "\x85", "\x9b", "\xa0", "\u2028", "\u2029", "\u202e", "\ufffe", "é", "😀"]
    letters += ["$(", "${", "{{", "$'", '"""', "\\n", "# ", ": ", "--", "\r\n"]
    return ["".join(dice.choices(letters, k=dice.randint(1, 12))) for _ in range(count)]


def comments_of(text):
    """Lines that are comments, and the rest of the file."""
    lines = text.split("\n")
    is_comment = [line.startswith("#") and not line.startswith("#SBATCH") for line in lines]
    comments = [line for line, is_one in zip(lines, is_comment, strict=True) if is_one]
    rest = "\n".join(line for line, is_one in zip(lines, is_comment, strict=True) if not is_one)
    return comments, rest


def shown(name):
    """What a comment says of a name."""
    text = ""
    for c in name:
        if c < " " or c == "\x7f":
            text += f"\\x{ord(c):02x}"
        elif re.match("[\x80-\x9f\u2028-\u202e\u2066-\u2069\u200e\u200f\u061c\ufffe\uffff]", c):
            text += f"\\u{ord(c):04x}"
        else:
            text += c
    return text


def texts_of(value):
    """All texts in a value of JSON."""
    if isinstance(value, str):
        return [value]
    below = value.values() if isinstance(value, dict) else value if isinstance(value, list) else []
    return [text for one in below for text in texts_of(one)]


@functools.cache
def read_yaml(text):
    return yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))


@functools.cache
def dump_of(text):
    return ast.dump(ast.parse(text))


class ExportedNames(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.quoted = READABLE + REFUSED + random_names(400)
        cls.exported = [TAME, *READABLE, *REFUSED, *random_names(12)]
        asked = json.dumps({"exported": cls.exported, "quoted": cls.quoted})
        run = subprocess.run([NAMES], input=asked, capture_output=True, text=True, check=True)
        answer = json.loads(run.stdout)
        cls.files = answer["files"]
        cls.literals = answer["literals"]

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        (self.folder / "bin").mkdir()
        for stub in STUBS:
            path = self.folder / "bin" / stub
            path.write_text(f'#!/bin/sh\nprintf \'%s\\0\' {stub} "$@" >>"$SAID"\necho host-0\n')
            path.chmod(0o755)

    def check_script(self, script):
        path = self.folder / "script.sh"
        path.write_text(script)
        check = subprocess.run(["bash", "-n", path], capture_output=True, text=True, check=False)
        self.assertEqual((check.returncode, check.stderr), (0, ""), script)
        return path

    def said_by(self, script):
        """The words of all commands that a script of bash starts; it may not start others."""
        path = self.check_script(script)
        said = self.folder / "said"
        said.write_text("")
        environment = {
            "PATH": f"{self.folder}/bin:/usr/bin:/bin",
            "HOME": str(self.folder),
            "SAID": str(said),
            "SLURM_JOB_NODELIST": "host-[0-1]",
            "LC_ALL": "C.UTF-8",
        }
        run = subprocess.run(
            ["bash", path, "train.py"],
            cwd=self.folder,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        self.assertEqual((run.returncode, run.stderr), (0, ""), script)
        self.assertFalse((self.folder / "canary").exists(), script)
        return said.read_bytes().decode().split("\0")

    def each_file(self, targets):
        """Name, target, file, and the file of the tame name."""
        for name, files in zip(self.exported, self.files, strict=True):
            for target in sorted(targets):
                with self.subTest(name=name, target=target):
                    yield name, files[target], self.files[0][target]

    def check_comments(self, name, text):
        comments, _ = comments_of(text)
        self.assertTrue(any(shown(name) in line for line in comments), text[:2000])

    def test_every_target_is_read(self):
        others = {"deepspeed", "torchtitan-toml", "msccl-xml", "nccl-tuner"}
        self.assertEqual(set(self.files[0]), SHELL | PYTHON | YAML | others)

    def test_no_control_character_stands_in_a_file(self):
        for name, files in zip(self.exported, self.files, strict=True):
            for target, text in files.items():
                raw = re.findall("[\0-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]", text)
                self.assertEqual(raw, [], (name, target))

    def test_scripts_start_the_same_commands(self):
        for name, text, tame in self.each_file(SHELL):
            self.check_comments(name, text)
            self.assertEqual(comments_of(text)[1], comments_of(tame)[1])
            self.check_script(text)

    def test_scripts_run_nothing_else(self):
        for target in sorted(SHELL):
            usual = self.said_by(self.files[0][target])
            self.assertGreater(len(usual), 3)
            # Lines but the first, which names the shell, of all files at once.
            comments = [line for f in self.files for line in comments_of(f[target])[0][1:]]
            head, rest = self.files[0][target].split("\n", 1)
            self.assertEqual(self.said_by("\n".join([head, *comments, rest])), usual)

    def test_programs_of_python_have_the_name_as_a_constant(self):
        for name, text, tame in self.each_file(PYTHON):
            self.check_comments(name, text)
            tree = ast.parse(text)
            for node in ast.walk(tree):
                if isinstance(node, ast.Constant) and node.value == name:
                    node.value = TAME
            self.assertEqual(ast.dump(tree), dump_of(tame))

    def test_yaml_has_the_same_values(self):
        for name, text, tame in self.each_file(YAML):
            self.check_comments(name, text)
            self.assertEqual(read_yaml(text), read_yaml(tame))

    def test_toml_has_the_name_as_a_value(self):
        for name, text, tame in self.each_file({"torchtitan-toml"}):
            self.check_comments(name, text)
            tree = tomllib.loads(text)
            self.assertEqual(tree["model"]["flavor"], name)
            tree["model"]["flavor"] = TAME
            self.assertEqual(tree, tomllib.loads(tame))

    def test_json_has_the_name_in_its_head(self):
        for name, text, tame in self.each_file({"deepspeed"}):
            tree, usual = json.loads(text), json.loads(tame)
            head = tree.pop("stepwright")
            self.assertTrue(any(name in said for said in texts_of(head)), head)
            usual.pop("stepwright")
            self.assertEqual(tree, usual)

    def test_xml_has_the_name_as_an_attribute(self):
        for name, text, tame in self.each_file({"msccl-xml"}):
            tree = ElementTree.fromstring(text)
            self.assertEqual(tree.get("name"), shown(name))
            tree.set("name", TAME)
            self.assertEqual(
                ElementTree.tostring(tree), ElementTree.tostring(ElementTree.fromstring(tame))
            )

    def test_tuner_files_have_the_same_lines(self):
        for name, text, tame in self.each_file({"nccl-tuner"}):
            comments, rest = comments_of(text)
            self.assertIn(shown(name)[:100], comments[0])
            self.assertEqual(
                list(csv.reader(rest.split("\n"))),
                list(csv.reader(comments_of(tame)[1].split("\n"))),
            )

    def test_literals_are_read_back(self):
        words = " ".join(literal["shell"] for name, literal in self.pairs() if "\0" not in name)
        said = self.said_by(f"torchrun {words}\n")
        self.assertEqual(said[1:-1], [name for name in self.quoted if "\0" not in name])
        for name, literal in self.pairs():
            with self.subTest(name=name):
                self.assertEqual(ast.literal_eval(literal["python"]), name)
                self.assertEqual(tomllib.loads(f"a = {literal['toml']}\n"), {"a": name})
                self.assertEqual(json.loads(literal["toml"]), name)
                self.assertEqual(yaml.safe_load(f"a: {literal['yaml']}\n"), {"a": name})
                self.assertEqual(literal["comment"], f"# {shown(name)}")

    def pairs(self):
        return zip(self.quoted, self.literals, strict=True)


class CommandExports(unittest.TestCase):
    """The command itself, with names that files may hold."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def export(self, target, name):
        job = {
            "model": {"name": name, "base": "llama-3-8b", "layers": 8, "head_dim": 64},
            "cluster": {"profile": "dgx-h100", "name": name, "nodes": 2},
            "batch": {"sequences": 64, "length": 4096},
            "optimizer": "adamw",
            **METHODS.get(target, {}),
        }
        plan = {"stepwright": "plan/1", "job": job, "parallel": {"data": 16}, "sharding": "GGG"}
        (self.folder / "plan.yaml").write_text(json.dumps(plan))
        return subprocess.run(
            [COMMAND, "export", "--to", target, "--plan", "plan.yaml", "--nearest"],
            cwd=self.folder,
            capture_output=True,
            text=True,
            check=False,
        )

    def test_writes_a_name_as_data(self):
        name = " ".join(READABLE)[:200]
        for target in sorted(SHELL | PYTHON | YAML):
            run = self.export(target, name)
            self.assertEqual(run.returncode, 0, run.stderr)
            comments, rest = comments_of(run.stdout)
            self.assertTrue(any(name in line for line in comments), run.stdout)
            if target in PYTHON:
                ast.parse(run.stdout)
            else:
                self.assertNotIn("canary", rest)

    def test_refuses_a_name_of_several_lines(self):
        for name in REFUSED[:-1]:
            run = self.export("megatron", name)
            self.assertEqual((run.returncode, run.stdout), (2, ""), name)
            self.assertRegex(
                run.stderr, r"plan\.yaml:1:\d+: job\.model\.name: must be one line of at most 200"
            )


if __name__ == "__main__":
    unittest.main()

"""Text that is nested 100,000 levels deep is refused by every reader, at once, with exit code 2."""

import os
import resource
import subprocess
import tempfile
import unittest
from pathlib import Path

COMMAND = Path(os.environ.get("STEPWRIGHT_COMMAND", "build/release/stepwright")).absolute()
LEVELS = 100_000
PARTS = 20_000  # Of one word of a command line, which Linux ends at 128 KiB.
# Seconds, of the 0.1 that a reader takes; whoever takes more is killed.
MOST_PROCESSOR_TIME = (2, 2)
TO_CLUSTER = ["--cluster", "dgx-h100"]
SCRIPT = "\ntorchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 4\n"


def imported(framework):
    return lambda file: ["import", "--from", framework, file, *TO_CLUSTER]


TITAN = imported("torchtitan")
DEEPSPEED = imported("deepspeed")
NEMO = imported("nemo")
BRIDGE = imported("bridge")


def shell(file):
    return ["import", file, *TO_CLUSTER]


def predicted(file):
    return ["predict", file]


def characterized(file):
    return ["characterize", "--log", file]


def lengths(file):
    return ["lengths", file, "--field", "a"]


def around(opening, inner, closing):
    return lambda n: opening * n + inner + closing * n


def expression(text):
    return lambda n: f"cfg = ConfigContainer(a={text(n)})\n"


def blocks(head, levels=2_000):
    return lambda n: "".join(" " * i + head + "\n" for i in range(levels))


# A reader, a construct, a file and what it holds with so many levels. What is limited by the size
# of a file, or grows with the square of its depth, has fewer.
ROWS = [
    ("toml", "dotted key", "a.toml", lambda n: "a" + ".a" * n + "=1", TITAN),
    ("toml", "dotted table", "a.toml", lambda n: "[a" + ".a" * n + "]", TITAN),
    ("toml", "array of tables", "a.toml", lambda n: "[[a" + " . a" * n + "]]", TITAN),
    ("toml", "quoted parts", "a.toml", lambda n: "'a'" + '."a"' * n + "=1", TITAN),
    ("toml", "dots in a table", "a.toml", lambda n: "x={a" + ".a" * n + "=1}", TITAN),
    ("toml", "array", "a.toml", around("[", "", "]"), TITAN),
    ("toml", "array value", "a.toml", lambda n: "a=" + "[" * n, TITAN),
    ("toml", "inline table", "a.toml", lambda n: "a=" + "{a=" * n, TITAN),
    ("yaml", "flow list", "a.yaml", lambda n: "a: " + "[" * n, predicted),
    ("yaml", "flow mapping", "a.yaml", lambda n: "a: " + "{a: " * n, predicted),
    ("yaml", "flow pairs", "a.yaml", lambda n: "a: " + "[a: " * n, predicted),
    ("yaml", "block list", "a.yaml", lambda n: "- " * n + "1", predicted),
    ("yaml", "explicit keys", "a.yaml", lambda n: "? " * n + "1", predicted),
    ("yaml", "block mapping", "a.yaml", blocks("a:"), predicted),
    (
        "yaml",
        "anchors of anchors",
        "a.yaml",
        lambda n: (
            "a0: &a0 [1]\n" + "".join(f"a{i}: &a{i} [*a{i - 1}, *a{i - 1}]\n" for i in range(1, 99))
        ),
        predicted,
    ),
    (
        "yaml",
        "merged merges",
        "a.yaml",
        lambda n: (
            "a0: &a0 {x: 1}\n"
            + "".join(f"a{i}: &a{i}\n  <<: *a{i - 1}\n  b: *a{i - 1}\n" for i in range(1, 120))
        ),
        predicted,
    ),
    ("json", "list", "a.json", lambda n: '{"a": ' + "[" * n, DEEPSPEED),
    ("json", "mapping", "a.json", lambda n: '{"a": ' * n, DEEPSPEED),
    ("json", "closed list", "a.json", lambda n: '{"a": ' + "[" * n + "]" * n + "}", predicted),
    (
        "hydra",
        "references",
        "a.yaml",
        lambda n: "trainer:\n  devices: 8\nmodel:\n  a: '" + "${a." * n + "}" * n + "'\n",
        NEMO,
    ),
    ("shell", "subshells", "a.sh", lambda n: "(" + " (" * n + SCRIPT, shell),
    ("shell", "groups", "a.sh", lambda n: "{ " * n + SCRIPT, shell),
    ("shell", "substitutions", "a.sh", lambda n: "a=" + "$(echo " * n + SCRIPT, shell),
    (
        "shell",
        "closed substitutions",
        "a.sh",
        lambda n: "a=" + "$(echo " * n + ")" * n + "\necho $a" + SCRIPT,
        shell,
    ),
    ("shell", "arithmetic", "a.sh", lambda n: "echo $((" + "(" * n + SCRIPT, shell),
    ("shell", "arithmetics", "a.sh", lambda n: "echo " + "$((" * n + SCRIPT, shell),
    ("shell", "expansions", "a.sh", lambda n: "echo " + "${a:-" * n + SCRIPT, shell),
    (
        "shell",
        "closed expansions",
        "a.sh",
        lambda n: "echo " + "${a:-" * n + "}" * n + SCRIPT,
        shell,
    ),
    ("shell", "conditions", "a.sh", lambda n: "if " * n + SCRIPT, shell),
    ("shell", "branches", "a.sh", lambda n: "if true; then " * (n // 2) + SCRIPT, shell),
    (
        "shell",
        "else if",
        "a.sh",
        lambda n: "if false; then :\n" + "elif false; then :\n" * (n // 2),
        shell,
    ),
    ("shell", "loops", "a.sh", lambda n: "while " * n + SCRIPT, shell),
    ("shell", "cases", "a.sh", lambda n: "case a in a) " * (n // 2) + SCRIPT, shell),
    ("shell", "functions", "a.sh", lambda n: "f() " * n + SCRIPT, shell),
    ("shell", "named functions", "a.sh", lambda n: "function f " * (n // 2) + SCRIPT, shell),
    ("shell", "not", "a.sh", lambda n: "! " * n + "true" + SCRIPT, shell),
    ("shell", "here-documents", "a.sh", lambda n: "a=" + "$(cat <<E\n" * n + SCRIPT, shell),
    ("python", "parentheses", "a.py", expression(around("(", "1", ")")), BRIDGE),
    ("python", "lists", "a.py", expression(around("[", "1", "]")), BRIDGE),
    ("python", "open lists", "a.py", expression(lambda n: "[" * n), BRIDGE),
    ("python", "mappings", "a.py", expression(around("{1: ", "1", "}")), BRIDGE),
    ("python", "calls", "a.py", expression(around("f(", "1", ")")), BRIDGE),
    ("python", "subscripts", "a.py", expression(around("a[", "1", "]")), BRIDGE),
    (
        "python",
        "blocks",
        "a.py",
        lambda n: (
            "".join(" " * i + "if True:\n" for i in range(500))
            + " " * 500
            + "cfg = ConfigContainer()\n"
        ),
        BRIDGE,
    ),
    ("python", "minuses", "a.py", expression(lambda n: "-" * n + "1"), BRIDGE),
    ("python", "not", "a.py", expression(lambda n: "not " * n + "1"), BRIDGE),
    ("python", "powers", "a.py", expression(lambda n: "2**" * n + "1"), BRIDGE),
    ("python", "choices", "a.py", expression(lambda n: "1 if x else " * (n // 2) + "1"), BRIDGE),
    ("python", "lambdas", "a.py", expression(lambda n: "lambda: " * n + "1"), BRIDGE),
    (
        "pickle",
        "lists",
        "a.flight.0",
        lambda n: b"\x80\x02" + b"]" * n + b"a" * (n - 1) + b".",
        characterized,
    ),
    ("pickle", "tuples", "a.flight.0", lambda n: b"\x80\x02)" + b"\x85" * n + b".", characterized),
    ("pickle", "marks", "a.flight.0", lambda n: b"\x80\x02" + b"(" * n + b".", characterized),
    (
        "flight recorder",
        "entry",
        "a.json",
        lambda n: '{"version": "2.4", "entries": [' + "[" * n,
        characterized,
    ),
    (
        "flight recorder",
        "groups",
        "a.json",
        lambda n: '{"version": "2.4", "pg_config": ' + '{"a": ' * n,
        characterized,
    ),
    ("kineto", "event", "a.json", lambda n: '{"traceEvents": [' + '{"a": ' * n, characterized),
    (
        "execution trace",
        "node",
        "a.json",
        lambda n: '{"schema": "1.1.1", "nodes": [' + "[" * n,
        characterized,
    ),
    (
        "deepspeed raw",
        "sizes",
        "a.json",
        lambda n: '{"all_reduce": {"4": ' + "[" * n + "]" * n + "}}",
        characterized,
    ),
    ("dataset", "list", "a.jsonl", lambda n: '{"a": ' + "[" * n, lengths),
    ("dataset", "mapping", "a.jsonl", lambda n: '{"a": ' * n, lengths),
    ("dataset", "closed list", "a.jsonl", lambda n: '{"a": ' + "[" * n + "]" * n + "}", lengths),
]

WHY = (
    r"deep|nested|never closes|must be text|stand for more than|grow|a token id|not JSON|number"
    r"|not a JSON object|end with one value|bare key|the key|must be|is no"
    r"|cannot set|--model is required"
)

# The name of a setting, given as NAME=VALUE.
SET_TITAN = ["import", "--from", "torchtitan", "a.toml", *TO_CLUSTER, "--set"]
SETTINGS = [
    ("import", lambda n: [*SET_TITAN, "a" + ".a" * n + "=1"]),
    ("import of a list", lambda n: [*SET_TITAN, "a=" + "[" * n]),
    ("predict", lambda n: ["predict", "a.yaml", "--set", "a" + ".a" * n + "=1"]),
]


class Nesting(unittest.TestCase):
    def run_in(self, folder, arguments, expected):
        run = subprocess.run(
            [COMMAND, *arguments],
            cwd=folder,
            capture_output=True,
            check=False,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, MOST_PROCESSOR_TIME),
        )
        said = run.stderr.decode(errors="replace")
        self.assertIn(run.returncode, expected, said[:300])
        if run.returncode == 2:
            self.assertTrue(said.startswith("stepwright: error: "), said[:300])
            self.assertRegex(said, WHY)
        self.assertLess(len(said), 5000)

    def test_is_refused_by_each_reader(self):
        for reader, construct, name, text, arguments in ROWS:
            with (
                self.subTest(reader=reader, construct=construct),
                tempfile.TemporaryDirectory() as folder,
            ):
                made = text(LEVELS)
                made = made if isinstance(made, bytes) else made.encode()
                Path(folder, name).write_bytes(made)
                self.run_in(folder, arguments(name), [2])

    def test_is_refused_in_the_name_of_a_setting(self):
        for command, arguments in SETTINGS:
            with self.subTest(command=command), tempfile.TemporaryDirectory() as folder:
                Path(folder, "a.toml").write_text("[parallelism]\n")
                Path(folder, "a.yaml").write_text("stepwright: plan/2\n")
                self.run_in(folder, arguments(PARTS), [2])


if __name__ == "__main__":
    unittest.main()

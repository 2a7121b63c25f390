"""Whatever files and words hold, the command prints nothing that a terminal would obey."""

import json
import os
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

COMMAND = Path(os.environ.get("STEPWRIGHT_COMMAND", "build/release/stepwright")).absolute()
HOSTILE = "\x1b]0;own\x07\x1b[2J\r\x7f\x85\x9b\u2028\u202e\u2066\u200f\u061cgpj"
OBEYED = re.compile(
    "[\0-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\u200e\u200f\u061c\ufffe\uffff]"
)
JOB = {
    "stepwright": "job/1",
    "model": {
        "name": "small",
        "layers": 4,
        "hidden": 128,
        "heads": 8,
        "kv_heads": 4,
        "ffn": 352,
        "vocab": 256,
    },
    "cluster": {"profile": "dgx-h100", "nodes": 1},
    "batch": {"sequences": 16, "length": 128},
}
DEVICE = {"name": "d", "memory": "80 GiB", "memory_bandwidth": 3e12, "peak": {"bf16": 1e15}}


def changed(tree, path, value):
    """A copy with another value at a dotted path."""
    key, _, rest = path.partition(".")
    if isinstance(tree, list):
        index = int(key)
        return [changed(x, rest, value) if i == index else x for i, x in enumerate(tree)]
    return tree | {key: changed(tree.get(key, {}), rest, value) if rest else value}


class Names(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def write(self, name, content):
        path = os.path.join(os.fsencode(self.folder), os.fsencode(name))
        with open(path, "wb") as file:
            file.write(content if isinstance(content, bytes) else content.encode())

    def run_command(self, *words):
        """Exit code, answer and messages of a command, which a terminal only shows."""
        run = subprocess.run([COMMAND, *words], cwd=self.folder, capture_output=True, check=False)
        for output in (run.stdout, run.stderr):
            found = OBEYED.search(output.decode())
            self.assertIsNone(found, (words, output))
            self.assertLess(len(output), 20_000, words)
        return run.returncode, run.stdout.decode(), run.stderr.decode()

    def refused(self, *words):
        code, _, messages = self.run_command(*words)
        self.assertEqual(code, 2, (words, messages))
        return messages

    def test_files_refuse_names_that_a_terminal_obeys(self):
        cluster = {
            "name": "c",
            "device": DEVICE,
            "nodes": 2,
            "devices_per_node": 2,
            "levels": [{"name": "l", "size": 2, "bandwidth": 1e11}],
            "nics_per_node": 1,
            "nic": 1e11,
            "network": [{"name": "n"}],
            "fit": "f",
        }
        job = JOB | {"cluster": cluster, "framework": {"name": "fsdp", "version": "2.8"}}
        self.write("good.json", json.dumps(job))
        code, _, messages = self.run_command("tune", "good.json", "--top", "1")
        self.assertEqual(code, 0, messages)
        places = [
            "model.name",
            "cluster.name",
            "cluster.device.name",
            "cluster.levels.0.name",
            "cluster.network.0.name",
            "cluster.fit",
            "cluster.profile",
            "framework.name",
            "framework.version",
            "conditions",
            "measured",
            "batch.lengths.file",
        ]
        for place in places:
            for name in (HOSTILE, "a\nb", "x" * 5000):
                self.write("job.json", json.dumps(changed(job, place, name)))
                shown = "xxx" if name[0] == "x" else "a\\\\x0ab" if name[0] == "a" else "\\\\x1b"
                self.assertRegex(
                    self.refused("tune", "job.json"),
                    rf"^stepwright: error: job\.json:1:\d+: {place}: must be one line .*{shown}",
                )
        self.write("job.json", json.dumps(JOB | {"model": HOSTILE}))
        self.assertIn("job.json:1:34: model: must be one line", self.refused("tune", "job.json"))

    def test_every_command_refuses_them(self):
        plan = {"stepwright": "plan/1", "job": changed(JOB, "model.name", HOSTILE)}
        plan["job"].pop("stepwright")
        self.write("plan.json", json.dumps(plan | {"parallel": {"data": 8}}))
        for command in ("predict", "memory", "traffic", "explain", "check"):
            self.assertIn("job.model.name: must be one line", self.refused(command, "plan.json"))
        words = ("export", "--to", "megatron", "--plan", "plan.json")
        self.assertIn("job.model.name: must be one line", self.refused(*words))

    def test_words_of_the_command_line_are_names_too(self):
        self.write("job.json", json.dumps(JOB))
        job = {key: value for key, value in JOB.items() if key != "stepwright"}
        plan = {"stepwright": "plan/1", "job": job, "parallel": {"data": 8}}
        self.write("plan.json", json.dumps(plan))
        self.assertIn(
            "job.model.name: must be one line",
            self.refused("predict", "plan.json", "--set", "model.name=a\nb"),
        )
        for words in (
            ["list", "models", "--config", HOSTILE],
            ["tune", HOSTILE],
            ["tune", b"\xff\x9b.yaml"],
            ["tune", "job.json", "--" + HOSTILE],
            ["predict", "plan.json", "--set", f"{HOSTILE}={HOSTILE}"],
            ["predict", "plan.json", "--set", f"model.name={HOSTILE}"],
            ["tune", "job.json", "--top", HOSTILE],
            [HOSTILE],
            ["init", "--model", HOSTILE, "--cluster", HOSTILE, "--gpus", "8", "--batch", "8x8"],
            ["export", "--to", "nccl-tuner", "--cluster", HOSTILE],
            ["import", HOSTILE],
            ["checkpoint", "show", HOSTILE],
            ["tune", "a\nforged"],
            ["fit", "--runs", "a\nforged"],
            ["characterize", "--log", "nf4\n" * 25_000],
        ):
            code, _, messages = self.run_command(*words)
            self.assertNotEqual(code, 0, words)
            self.assertNotRegex(messages, "(?m)^forged", words)

    def test_a_configuration_names_its_model(self):
        config = {
            "model_type": "llama",
            "hidden_size": 64,
            "intermediate_size": 128,
            "num_attention_heads": 8,
            "num_hidden_layers": 2,
            "vocab_size": 256,
        }
        self.write("config.json", json.dumps(config | {"_name_or_path": f"hub/{HOSTILE}"}))
        self.assertIn(
            "_name_or_path: must be one line",
            self.refused("list", "models", "--config", "config.json"),
        )
        self.write("config.json", json.dumps(config | {"model_type": HOSTILE}))
        self.assertEqual(self.run_command("list", "models", "--config", "config.json")[0], 3)
        self.write(HOSTILE.replace("/", "") + ".json", json.dumps(config))
        self.assertIn(
            "gives the model its name",
            self.refused("list", "models", "--config", HOSTILE + ".json"),
        )

    def test_logs_are_shown_on_their_lines(self):
        self.write(
            "nccl.log",
            f"h:1:1 [0] NCCL INFO {HOSTILE}: opCount 0 sendbuff 0x1 recvbuff 0x1 count 1 "
            "datatype 7 op 0 root 0 comm 0x1 [nranks=2] stream 0x1\n",
        )
        code, answer, _ = self.run_command("characterize", "--log", "nccl.log")
        self.assertEqual(code, 0)
        self.assertIn("not understood", answer)
        calls = {"4000": [1, [1.0], [1.0], [1.0]]}
        for name in (HOSTILE, "a\nlog 2: forged", "x" * 1_000_000):
            names = {"all_reduce": calls, name: calls, name + "2": calls}
            self.write("ds.json", json.dumps(names))
            code, answer, _ = self.run_command("characterize", "--log", "ds.json")
            self.assertEqual(code, 0)
            self.assertIn("not understood", answer)
            self.assertNotIn("\nlog 2", answer)
        self.write("ds.json", json.dumps({HOSTILE: calls}))
        code, answer, _ = self.run_command("characterize", "--log", "ds.json", "--json")
        self.assertEqual(code, 0)
        json.loads(answer)

    def test_tables_and_their_errors_are_shown_on_their_lines(self):
        header = (
            "library,operation,nodes,ranks_of_node,groups_of_node,payload_bytes,chunk_bytes,seconds"
        )
        for row in (
            f"gl{HOSTILE}oo,all_reduce,1,2,1,8,0,1",
            f"gloo,{HOSTILE},1,2,1,8,0,1",
            f"gloo,all_reduce,{HOSTILE},2,1,8,0,1",
            '"a\nstepwright: error: forged",all_reduce,1,2,1,8,0,1',
        ):
            self.write("m.csv", f"{header}\n{row}\n")
            messages = self.refused("fit", "m.csv", "-o", "o.json")
            self.assertIn("m.csv:2", messages)
            self.assertEqual(messages.count("\n"), 1)
        self.write("m.csv", f"{HOSTILE},{HOSTILE}\n1,2\n")
        self.refused("fit", "m.csv", "-o", "o.json")

    def test_launch_files_are_shown_on_their_lines(self):
        script = (
            "torchrun --nnodes 1 --nproc-per-node 8 pretrain_gpt.py --num-layers 4 "
            "--hidden-size 128 --num-attention-heads 8 --seq-length 128 --max-position-embeddings "
            "128 --micro-batch-size 1 --global-batch-size 16 --vocab-size 256 "
        )
        # A line end and what only separates lines would end the words.
        word = HOSTILE.replace("\r", "")
        for more in (
            f"--{word} '{word}'",
            f"--tokenizer-type '{word}' --data-path '{word}' --save '{word}'",
            f"--optimizer '{word}'",
            f'--seed "${{{word}}}"',
            f"--num-layers '{word}'",
            "--tokenizer-type 'a\nforged' --other 'b\nforged' '--c\nforged' d",
        ):
            self.write("train.sh", script + more + "\n")
            for command in ("import", "check"):
                _, answer, messages = self.run_command(command, "train.sh", "--cluster", "dgx-h100")
                self.assertNotIn("\nforged", answer + messages)
        for name, text in (
            ("t.toml", f'[model]\nname = "x" {HOSTILE}\n'),
            (
                "t.toml",
                '[model]\nname = "\\u001b[2J"\nflavor = "\\u202e"\n[training]\nseq_len = 8\n',
            ),
            ("t.toml", b'[model]\nname = "\xff\x9b"\n'),
            ("t.py", f"import os\nos.system({HOSTILE!r})\n# {HOSTILE}\n"),
        ):
            self.write(name, text)
            self.run_command("import", "--from", "torchtitan", name, "--cluster", "dgx-h100")

    def test_broken_files_are_shown_as_text(self):
        for name, content in (
            ("c.json", b'{"a": "\xff\x9b"}'),
            ("c.json", '{"' + HOSTILE),
            ("c.json", b'{"a": \x1b[2J'),
            ("c.yaml", b"a: \xff\x9b\n"),
            ("c.yaml", f'"{HOSTILE}": [\n'),
            ("c.yaml", b'stepwright: job/1\n"\\e[2J": 1\n'),
            ("c.yaml", b'stepwright: "\\e[2J\\u202e"\n'),
            ("c.yaml", b'stepwright: "job/1\\nstepwright: error: forged"\n'),
            ("index.json", '{"stepwright": "checkpoint/1", "xxh3": "\\u001b[2J", "content": {}}'),
        ):
            self.write(name, content)
            code, _, messages = self.run_command("tune", name)
            self.assertEqual((code, messages.count("\n")), (2, 1), messages)
            self.assertNotEqual(self.run_command("checkpoint", "show", ".")[0], 0)

    def test_advice_is_quoted_for_a_shell(self):
        self.write("a; touch b.yaml", json.dumps(JOB))
        self.assertIn(
            "run `stepwright tune 'a; touch b.yaml' -o plan.yaml`",
            self.refused("predict", "a; touch b.yaml"),
        )


if __name__ == "__main__":
    unittest.main()

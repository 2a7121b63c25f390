"""Readers take time in proportion to what they read: twice the text, about twice the seconds."""

import json
import os
import pickle
import resource
import subprocess
import tempfile
import unittest
from pathlib import Path

COMMAND = Path(os.environ.get("STEPWRIGHT_COMMAND", "build/release/stepwright")).absolute()
MOST_RATIO = 2.6  # Of the seconds for twice the text: sorting and caches take some more.
FREE_SECONDS = 0.05  # Seconds of the processor that say nothing.
TRIES = 4  # A neighbour may take the caches.
TRAINING = (
    "torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 4 --hidden-size 128"
    " --num-attention-heads 8 --seq-length 128 --max-position-embeddings 128"
    " --micro-batch-size 1 --global-batch-size 16 --vocab-size 1000 --bf16 "
)
TO_CLUSTER = ["--cluster", "dgx-h100"]


def each(text, between=""):
    """A text of so many parts; `{0}` is the number of each."""
    return lambda n: between.join(text.replace("{0}", str(i)) for i in range(n))


def script(*parts):
    return lambda n: (
        "".join(part(n) if callable(part) else part for part in parts) + "\n" + TRAINING
    )


def nccl(size, comm="0x1", host="h"):
    return each(
        f"{host}:1:1 [0] NCCL INFO Send: opCount {{0}} sendbuff 0x1 recvbuff (nil) count 100"
        f" datatype 7 op 0 root {{0}} comm {comm} [nranks={size}] stream 0x1\n"
    )


def trace(event):
    return lambda n: (
        '{"distributedInfo":{"rank":0,"world_size":2},"traceEvents":['
        + ",\n".join(json.dumps(event(i)) for i in range(n))
        + "]}"
    )


def call(i, lane=1, kernel=False):
    return {
        "name": "ncclDevKernel_AllReduce" if kernel else "record_param_comms",
        "cat": "kernel" if kernel else "cpu_op",
        "ph": "X",
        "ts": 10 * i,
        "dur": 5,
        "pid": lane,
        "tid": lane,
        "args": {
            "Collective name": "allreduce",
            "Process Group Name": "0",
            "Process Group Ranks": "[0, 1]",
            "Group size": 2,
            "In msg nelems": 100,
            "Out msg nelems": 100,
            "dtype": "Float",
            "External id": i,
            "correlation": i,
        },
    }


def entry(i):
    return {
        "record_id": i,
        "profiling_name": "nccl:all_reduce",
        "input_sizes": [[100]],
        "input_dtypes": ["Float"],
        "output_sizes": [[100]],
        "output_dtypes": ["Float"],
        "process_group": ["0", "x"],
        "time_created_ns": i,
        "duration_ms": 1.0,
    }


def dump(n):
    return {
        "version": "2.4",
        "pg_config": {"0": {"name": "0", "ranks": "[0, 1]"}},
        "entries": [entry(i) for i in range(n)],
    }


def node(i):
    attributes = {
        "collective_name": "all_to_all",
        "pg_name": "1",
        "dtype": "Float",
        "in_msg_nelems": 1000,
        "out_msg_nelems": 1000,
        "pg_size": 1000,
    }
    return {
        "id": i,
        "name": "record_param_comms",
        "ctrl_deps": i,
        "inputs": {"values": []},
        "attrs": [{"name": name, "value": value} for name, value in attributes.items()],
    }


LLAMA = json.dumps(
    {
        "model_type": "llama",
        "hidden_size": 4096,
        "intermediate_size": 14336,
        "num_attention_heads": 32,
        "num_hidden_layers": 32,
        "vocab_size": 128256,
    }
)
SHELL = ["import", "a.sh", *TO_CLUSTER]
TITAN = ["import", "--from", "torchtitan", "a.toml", *TO_CLUSTER]
DEEPSPEED = ["import", "--from", "deepspeed", "a.json", "--model", "llama-3-8b", *TO_CLUSTER]
NEMO = ["import", "--from", "nemo", "a.yaml", *TO_CLUSTER]
PREDICT = ["predict", "a.yaml"]
LENGTHS = ["lengths", "a.jsonl", "--field", "a"]


def characterized(name):
    return ["characterize", "--log", name]


# What is read, so many parts of it, the text, and the command with the file last or named in it.
ROWS = [
    ("&&", 12_000, script(each("true && "), "true"), SHELL),
    ("||", 12_000, script(each("false || "), "true"), SHELL),
    ("open conditions", 3_000, script(each('[ "$A{0}" ] && '), "true"), SHELL),
    ("a long condition", 12_000, script("if true ", each("&& true "), "; then :; fi"), SHELL),
    ("variables and subshells", 6_000, script(each("v{0}=1\n"), each("(:)\n")), SHELL),
    ("variables and pipes", 6_000, script(each("v{0}=1\n"), each("{ :; } | { :; }\n")), SHELL),
    ("variables and shells", 2_000, script(each("export v{0}=1\n"), each("bash -c :\n")), SHELL),
    ("elements of an array", 4_000, script("declare -A A\n", each("A[k{0}]=1\n")), SHELL),
    ("a growing array", 6_000, script("A=()\n", each("A+=(--x {0})\n")), SHELL),
    (
        "functions of functions",
        150,
        script(
            "f(){\n",
            each(":\n"),
            "}\ng(){\n",
            each("f\n"),
            "}\nh(){\n",
            each("g\n"),
            "}\nif $X; then h; fi",
        ),
        SHELL,
    ),
    ("words that start a program", 20_000, script(each("exec "), "x"), SHELL),
    ("shifts", 6_000, script("set -- ", each("w "), "\n", each("shift\n")), SHELL),
    (
        "jobs of a queue",
        2_000,
        script(
            each("#SBATCH --comment=x\n"),
            "cat > a2.sh <<'E'\n#SBATCH -N 4\n:\nE\n",
            each("sbatch a2.sh\n"),
        ),
        SHELL,
    ),
    ("missing scripts", 12_000, script(each("source m{0}.sh\n")), SHELL),
    ("functions", 12_000, script(each("f{0}(){ :; }\n")), SHELL),
    ("conditions", 12_000, script(each("if true; then :; fi\n")), SHELL),
    ("a long here-document", 20_000, script("cat > x <<E\n", each("line {0}\n"), "E\n"), SHELL),
    ("lines of #SBATCH", 15_000, script(each("#SBATCH --comment=x\n")), SHELL),
    ("a long word", 400_000, script("echo ", each("a")), SHELL),
    ("unknown flags", 10_000, lambda n: TRAINING + each("--x{0} 1 ")(n), SHELL),
    ("tables of TOML", 15_000, each("[a{0}]\nx=1\n"), TITAN),
    (
        "keys of a config.json",
        20_000,
        lambda n: LLAMA[:-1] + "," + each('"some_key_{0}":1', ",")(n) + "}",
        ["list", "models", "--config", "a.json"],
    ),
    (
        "weights of a model",
        2_000,
        lambda n: LLAMA.replace('"num_hidden_layers": 32', f'"num_hidden_layers": {n}'),
        ["list", "models", "--tensors", "--json", "--config", "a.json"],
    ),
    ("keys of TOML", 20_000, lambda n: "[model]\n" + each("a{0}=1\n")(n), TITAN),
    ("keys of JSON", 20_000, lambda n: "{" + each('"a{0}":1', ",")(n) + "}", DEEPSPEED),
    (
        "keys of a section",
        15_000,
        lambda n: "trainer:\n  devices: 8\nmodel:\n" + each("  a{0}: 1\n")(n),
        NEMO,
    ),
    ("keys of YAML", 30_000, each("a{0}: 1\n"), PREDICT),
    (
        "merged mappings",
        10_000,
        lambda n: "x: &a {b: 1}\ny:\n" + each("  k{0}: 1\n")(n) + each("  <<: *a\n")(n),
        PREDICT,
    ),
    ("calls of a large group", 4_000, nccl(1_000_000), characterized("a.log")),
    ("many large groups", 2_000, nccl(100_000, "0x{0}"), characterized("a.log")),
    ("processes", 20_000, nccl(8, host="h{0}"), characterized("a.log")),
    (
        "messages of an exchange",
        12_000,
        lambda n: nccl(1_000_000)(n).replace("opCount ", "opCount 1 x "),
        characterized("a.log"),
    ),
    ("calls of a trace", 10_000, trace(call), characterized("a.json")),
    ("lanes of a trace", 4_000, trace(lambda i: call(i, lane=i)), characterized("a.json")),
    (
        "kernels of a trace",
        10_000,
        trace(lambda i: call(i // 2, kernel=i % 2 == 0)),
        characterized("a.json"),
    ),
    (
        "entries of a flight recorder",
        10_000,
        lambda n: json.dumps(dump(n)),
        characterized("a.0.json"),
    ),
    ("a pickle", 10_000, lambda n: pickle.dumps(dump(n), protocol=2), characterized("a.flight.0")),
    (
        "nodes of an execution trace",
        8_000,
        lambda n: json.dumps({"schema": "1.1.1", "nodes": [node(i) for i in range(n)]}),
        characterized("a.0.json"),
    ),
    (
        "lines of DeepSpeed",
        20_000,
        each("[Rank 0] comm op: all_reduce | f{0} | time (ms): 1 | msg size: 3.91 KB | algbw\n"),
        characterized("a.txt"),
    ),
    ("lines of a dataset", 100_000, each('{"a":[1,2,3]}\n'), LENGTHS),
    (
        "keys of a dataset",
        100_000,
        lambda n: "{" + each('"k{0}":1', ",")(n) + ',"a":[1]}\n',
        LENGTHS,
    ),
]


def file_of(command):
    return next(word for word in command if word.startswith("a."))


class LinearTime(unittest.TestCase):
    def seconds(self, command, text):
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, file_of(command)).write_bytes(
                text if isinstance(text, bytes) else text.encode()
            )
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            run = subprocess.run(
                [COMMAND, *command],
                cwd=folder,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                check=False,
                timeout=100,
            )
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.assertIn(run.returncode, (0, 2), run.stderr[:300])
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    def test_is_what_each_reader_takes(self):
        for what, parts, text, command in ROWS:
            with self.subTest(what=what):
                once, twice = text(parts), text(2 * parts)
                for attempt in range(TRIES):
                    one = self.seconds(command, once)
                    two = self.seconds(command, twice)
                    if two <= MOST_RATIO * one + FREE_SECONDS:
                        break
                    self.assertLess(
                        attempt, TRIES - 1, f"{one:.2f} s, and {two:.2f} s for twice as much"
                    )


if __name__ == "__main__":
    unittest.main()

"""Hostile inputs of commands: mutated files of every kind that a command reads, things that are no
files, options with values that nobody means. Each is made from the seed and its own number."""

import gzip
import os
import random
import re
import socket
import subprocess

from names_test import HOSTILE
from numbers_test import BESIDE, COMMAND, JOB, PLAN, ROOT, commands, options

LONGEST_FILE, LONGEST_WORD, LONGEST_NAME = 4 << 20, 100_000, 1_000_000


def words_of(text):
    return text.split()


WORDS = words_of("""- -- -1 0 1e308 1e-308 nan inf 0x10 \u0663 2147483648 9223372036854775807
18446744073709551616 1e400 -0.0 %s%n ../../etc/passwd /dev/zero /dev/full / . `touch own` null true
[] {} [[[[ ' " *x &x !!python/object:os.system \u00e9""")
WORDS += [HOSTILE, "x" * LONGEST_NAME, "", " ", "a\nb", "$(touch own)"]
NUMBERS = words_of("""0 -1 1e308 1e-300 NaN .inf 1e400 9223372036854775807 1099511627776 0.5
2147483647 3 7 65536 1048576 null "8" [1] true 08 1_000 +1 1e""")
# Values from which those of options are mutated.
VALUES = words_of("""8 0.5 dgx-h100:2 512x8192 cluster.nodes=1,2 batch.length=4096 micro_batch=2x
10min 100GB/s 1T llama-3-8b fsdp gloo:all_reduce:1x2:1024 8,4 nf4 5% out""")
TARGETS = words_of("""megatron torchtitan fsdp deepspeed nemo accelerate maxtext axolotl
llama-factory ms-swift torchtune nemo-rl nanotron torchrun slurm mpirun""")
ENDINGS = {"{": "json", "#!": "sh", "[": "toml", "from": "py", "import": "py"}
CORPUS = "tests/framework_files/corpus/*fuzz/*"
# Names of files, where valid ones are, and the commands that read FILE.
INIT = "init --gpus 8 --batch 8x128"
DOCUMENTS = [
    (
        "job.yaml",
        "examples/inline-model.yaml examples/own-cluster.yaml examples/packed.yaml "
        "examples/adapters.yaml examples/whole-run.yaml examples/grpo.yaml",
        "tune FILE --top 1 --threads 1; run FILE --tokens 1T; phases FILE",
    ),
    (
        "plan.yaml",
        "examples/*.plan.yaml",
        "predict FILE; memory FILE; traffic FILE; explain FILE; check FILE; interleave FILE; "
        f"run FILE --tokens 1T; study bandwidth FILE; tune {JOB} --against FILE; "
        + "; ".join(f"export FILE --nearest -o out --to {target}" for target in TARGETS),
    ),
    (
        "cluster.yaml",
        "examples/two-cores.yaml tests/cluster/corpus/*/*",
        f"{INIT} --model llama-3-8b --cluster FILE; study collectives FILE --nodes 1; "
        f"export --to nccl-tuner --cluster FILE; import {PLAN} --cluster FILE",
    ),
    ("lab.yaml", "examples/lab-4x4.yaml examples/emulation/*", "lab profile FILE"),
    (
        "config.json",
        "tests/model/corpus/*/*.json",
        f"list models --config FILE --json --tensors; {INIT} --model FILE --cluster dgx-h100",
    ),
    (
        "conditions.yaml",
        "stepwright/cost/training/conditions.yaml",
        f"predict {PLAN} --set conditions=FILE; validate data/own_runs_h100.csv --conditions FILE",
    ),
    (
        "profile.json",
        "profiles/a*.json",
        f"validate data/memory.csv --profile FILE; predict {PLAN} --set measured=FILE; "
        f"predict {PLAN} --set cluster.profile=FILE",
    ),
    (
        "table.csv",
        "data/*.csv data/*/*.csv",
        "validate FILE; fit FILE -o out; fit --runs FILE -o out; "
        f"tune {JOB} --runs FILE; tune {JOB} --runs FILE --candidates FILE",
    ),
    (
        "log",
        "tests/logs/data/*0* tests/logs/data/deep* tests/logs/corpus/logs_fuzz/*",
        f"characterize --log FILE; compare {PLAN} --log FILE; check {PLAN} --log FILE; "
        f"fit FILE -o out; fit FILE --plan {PLAN} -o out",
    ),
    ("index.json", "tests/checkpoint/corpus/*/*", "checkpoint show .; checkpoint verify ."),
]
TEXTS = [
    (
        "lines.jsonl",
        '{"a": [1, 2], "b": {"c": "x"}, "n": 5}\n{"a": [], "b": {"c": "t"}, "n": 9}\n',
        "lengths FILE --field a; lengths FILE --field b.c; lengths FILE --field n",
    ),
    (
        "lengths.yaml",
        "stepwright: lengths/1\nhistogram:\n- [700, 12]\n- [1024, 3]\n",
        f"lengths FILE; predict {PLAN} --set batch.lengths={{file: FILE}}",
    ),
    ("times.json", '{"forward": {"f1": 0.001}, "backward": {}}', f"interleave {PLAN} --times FILE"),
    ("page.html", "<p>", "serve --page FILE --port 99999"),
]


def rows_of_launches(folder):
    """What the command exports, and what other people wrote."""
    texts = [
        (path.stem, path.read_bytes()) for path in found("tests/framework_files/corpus/*fuzz/*")
    ]
    for target in TARGETS:
        made = folder / "made"
        words = [COMMAND, "export", PLAN, "--nearest", "--to", target, "-o", made]
        if subprocess.run(words, capture_output=True, cwd=ROOT, check=False).returncode == 0:
            texts.append((target, made.read_bytes()))
    for target, text in texts:
        ends = [end for mark, end in ENDINGS.items() if text.decode().startswith(mark)]
        named = f"import FILE --cluster dgx-h100:64 --from {target}; " * (target in TARGETS)
        reads = named + "import FILE --cluster dgx-h100:64; check FILE --cluster dgx-h100:64"
        yield f"launch.{[*ends, 'yaml'][0]}", f"launch.{[*ends, 'yaml'][0]}", text, reads


def found(patterns):
    return [path for each in patterns.split() for path in sorted(ROOT.glob(each))]


def rows_of_documents():
    """Kind, name, content and commands of each valid file."""
    for kind, patterns, reads in DOCUMENTS:
        for path in found(patterns):
            text = path.read_bytes()
            if kind == "table.csv":
                text = b"\n".join(text.split(b"\n")[:12]) + b"\n"
            yield kind, path.name if kind == "log" else kind, text, reads
    for name, text, reads in TEXTS:
        yield name, name, text.encode(), reads


class Attack:
    def __init__(self, seed, folder, patient):
        self.seed, self.patient = seed, patient
        self.rows = [*rows_of_documents(), *rows_of_launches(folder)]
        self.kinds = sorted({row[0] for row in self.rows})
        self.options = [(one, *each) for one in sorted(commands()) for each in options(one)]

    def input(self, number, folder):
        """Writes the files of one input. Returns its words and whether it may leave outputs."""
        self.draw = random.Random(f"{self.seed}/{number}")
        if self.draw.random() < 0.2:
            return self.option(), True
        kind = self.draw.choice(self.kinds)
        _, name, text, reads = self.draw.choice([row for row in self.rows if row[0] == kind])
        if self.draw.random() < 0.1:
            self.no_file(folder / name)
        else:
            (folder / name).write_bytes(self.mutated(text, name))
        chosen = self.draw.choice(reads.split("; ")).replace("{file: FILE}", "{file:FILE}").split()
        words = [word.replace("FILE", name) for word in chosen]
        if self.draw.random() < 0.3 and words[0] != "serve" and "--json" not in words:
            words.append("--json")
        return words, "out" in words

    def option(self):
        command, option, _ = self.draw.choice(self.options)
        beside = BESIDE.get(command, [])
        split = beside.index("--") if "--" in beside else len(beside)
        mutated = self.mutated(self.draw.choice(VALUES).encode(), "")
        value = self.draw.choice([*WORDS, *[mutated.decode(errors="surrogateescape")] * 20])
        value = value.replace("\0", "")[:LONGEST_WORD]  # The kernel takes no longer word.
        return [*command.split(), *beside[:split], f"{option}={value}", *beside[split:]]

    def mutated(self, text, name):
        if name.endswith(".gz") and self.draw.random() < 0.7:
            return gzip.compress(self.mutated(gzip.decompress(text), ""), 1)
        for _ in range(self.draw.choice([1, 1, 1, 2, 4])):
            text = self.draw.choice(MUTATIONS)(self.draw, text)[:LONGEST_FILE]
        return text

    def no_file(self, path):
        links = {"loop": path.name, "gone": "gone", "zero": "/dev/zero", "memory": "/proc/self/mem"}
        kinds = [*links, "folder", "socket", "large", "denied", "empty", *["pipe"] * self.patient]
        kind = self.draw.choice(kinds)
        if kind in links:
            path.symlink_to(links[kind])
        elif kind == "folder":
            path.mkdir()
        elif kind == "pipe":
            os.mkfifo(path)
        elif kind == "socket":
            with socket.socket(socket.AF_UNIX) as made:
                made.bind(str(path))
        else:
            path.write_bytes(b"")
            path.chmod(0 if kind == "denied" else 0o644)
            os.truncate(path, 5 << 30 if kind == "large" else 0)


def flip(draw, text):
    changed = bytearray(text or b"a")
    for _ in range(draw.choice([1, 3, 20])):
        changed[draw.randrange(len(changed))] ^= 1 << draw.randrange(8)
    return bytes(changed)


def replace(pattern, values):
    """A mutation that replaces one match of a pattern, or several."""

    def change(draw, text):
        places = list(re.finditer(pattern, text))
        chosen = draw.sample(places, min(len(places), draw.choice([1, 1, 3])))
        for match in sorted(chosen, key=lambda one: -one.start()):
            text = text[: match.start()] + values(draw, match[0]) + text[match.end() :]
        return text

    return change


def insert(values):
    def change(draw, text):
        at = draw.randrange(len(text) + 1)
        return text[:at] + values(draw, b"") + text[at:]

    return change


def lines(change):
    def of(draw, text):
        parts = text.split(b"\n")
        at = draw.randrange(len(parts))
        return b"\n".join(parts[:at] + change(parts[at]) + parts[at + 1 :])

    return of


def encoded(draw, text):
    how = draw.choice(["utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-7", "cp037"])
    return text.decode(errors="replace").encode(how, errors="replace")


def nested(draw, _):
    opening = draw.choice([b"[", b"{", b'{"a":', b"- ", b"a.", b"(", b"$(", b"if x; then\n", b"\\"])
    return opening * draw.choice([50, 200, 100_000])


def word(draw, _):
    return draw.choice(WORDS).encode()


MUTATIONS = [
    flip,
    lambda draw, text: text[: draw.randrange(len(text) + 1)],
    lambda draw, text: text[draw.randrange(len(text) + 1) :],
    lambda draw, text: text + text,
    lambda draw, text: text.replace(b"\n", draw.choice([b"\r", b"\r\n", b"\n\n", b"\0\n"])),
    lambda draw, text: b"\xef\xbb\xbf" * draw.choice([1, 2]) + text,
    lambda draw, text: gzip.compress(text, 1),
    encoded,
    insert(nested),
    insert(word),
    insert(lambda draw, _: draw.randbytes(8)),
    insert(lambda draw, _: HOSTILE.encode()),
    lines(lambda line: []),
    lines(lambda line: [line] * 2),
    lines(lambda line: [line] * min(20_000, LONGEST_FILE // (len(line) + 1))),
    lines(lambda line: [b" " + line]),
    *[replace(rb"-?\d[\d.e+]*", lambda draw, _: draw.choice(NUMBERS).encode())] * 6,
    *[replace(rb"[A-Za-z_]{2,}", word)] * 4,
    *[replace(rb"[A-Za-z_]{2,}", lambda _, old: old[1:] + old[:1])] * 2,
    replace(rb"[\[\]{}\",:=-]", lambda draw, _: draw.choice([b"", b"{", b"]", b":", b'"', b"\t"])),
]

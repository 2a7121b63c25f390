"""Every answer of `--json` is held against its schema in docs/schemas/, and the page of options has
every command. Runs in the root of the repository; STEPWRIGHT_COMMAND names the command."""

import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

try:
    from jsonschema import Draft202012Validator
except ImportError:
    print("skipped: python3 has no jsonschema (tools/setup.sh test)")
    sys.exit(77)

ROOT = Path.cwd()
COMMAND = Path(os.environ.get("STEPWRIGHT_COMMAND", "build/release/stepwright")).absolute()
SCHEMAS = ROOT / "docs" / "schemas"
PLAN = "examples/llama-3-70b.plan.yaml"

JOB = """stepwright: job/2
model: llama-3-8b
cluster: {profile: dgx-h100, nodes: 1}
batch: {sequences: 64, length: 4096}
"""
FILES = {
    "too_large.yaml": JOB.replace("8b", "70b") + "search: {tensor: 1, pipeline: 1}\n",
    "large.plan.yaml": "stepwright: plan/2\njob:\n  model: llama-3-8b\n"
    "  cluster: {profile: dgx-h100, nodes: 1}\n  batch: {sequences: 64, length: 4096}\n"
    "parallel: {data: 8}\n",
    "dense.plan.yaml": "stepwright: plan/2\njob:\n  model: llama-3-8b\n"
    "  cluster: {profile: dgx-h100, nodes: 1}\n  batch: {sequences: 64, length: 4096}\n"
    "parallel: {tensor: 2, data: 4}\nsequence_parallel: true\n",
    "packed.plan.yaml": "stepwright: plan/2\njob:\n  model: llama-3-8b\n"
    "  cluster: {profile: dgx-h100, nodes: 2}\n"
    "  batch: {sequences: 64, length: 8192, lengths: {lognormal: {median: 700, sigma: 0.9}}, "
    "packing: {kind: greedy, too_long: split}}\n"
    "parallel: {tensor: 2, context: 2, data: 4}\nsequence_parallel: true\nsharding: NNG\n",
    "packed.yaml": JOB.replace(
        "length: 4096",
        "length: 4096, lengths: {lognormal: {median: 700, sigma: 0.9}}, "
        "packing: {kind: none, pad_to: longest, too_long: drop}",
    ),
    "pairs.yaml": JOB + "objective: dpo\n",
    "phases.plan.yaml": "stepwright: plan/2\njob:\n  model: llama-3-8b\n"
    "  cluster: {profile: dgx-h100, nodes: 2}\n  batch: {sequences: 64, length: 4096}\n"
    "  objective: {kind: ppo, updates: 2, critic: {devices: 8}, "
    "rollout: {seconds: 20s, devices: 8}}\n"
    "parallel: {tensor: 2, data: 8}\nsequence_parallel: true\nsharding: NNG\n",
    "data.jsonl": '{"ids": [1, 2, 3]}\n{"ids": []}\n{"ids": [4]}\n',
    "two_ranks.plan.yaml": "stepwright: plan/2\njob:\n"
    "  model: {layers: 2, hidden: 64, heads: 4, ffn: 256, vocab: 256}\n"
    "  cluster: {profile: dgx-h100, devices: 2}\n  batch: {sequences: 8, length: 64}\n"
    "parallel: {data: 2}\nsharding: zero3\n",
    "train.sh": "torchrun --nnodes 1 --nproc-per-node 8 pretrain_gpt.py --num-layers 8 "
    "--hidden-size 512 --num-attention-heads 8 --vocab-size 1024 --seq-length 512 "
    "--max-position-embeddings 512 --micro-batch-size 1 --global-batch-size 16 --bf16\n",
    "gone.sh": "#SBATCH --gpus-per-node=8\nexport HF_TOKEN=x\necho 'a: 1' > gone.yaml\n"
    "for host in a b; do ssh $host torchrun train.py gone.yaml; done\nrm gone.yaml\n",
    "unstartable.sh": "torchrun --nnodes 1 --nproc-per-node 8 pretrain_gpt.py --num-layers 2 "
    "--hidden-size 512 --num-attention-heads 8 --vocab-size 1024 --seq-length 512 --bf16 "
    "--max-position-embeddings 512 --global-batch-size 16 --pipeline-model-parallel-size 4\n",
    "full.sh": "torchrun --nnodes 1 --nproc-per-node 8 pretrain_gpt.py --num-layers 80 "
    "--hidden-size 8192 --num-attention-heads 64 --vocab-size 1024 --seq-length 4096 --bf16 "
    "--max-position-embeddings 4096 --global-batch-size 16\n",
    "five_nodes.yaml": JOB.replace("nodes: 1", "nodes: 5"),
    "smallest.yaml": JOB
    + "objective: {kind: smallest_cluster, target_step_time: 100}\n"
    + "search: {tensor: 8, pipeline: 1, context: 1}\n",
    "broken.log": "host:1:2 [0] NCCL INFO AllReduce: opCount 0 sendbuff 0x1 recvb\n",
    "nothing_sent.json": json.dumps(
        {"stepwright": "ledger/1", "ranks": 4, "steps": 1, "communicators": []}
    ),
}


def own_runs():
    """Runs of six models on one machine."""
    lines = [
        "id,gpu,gpus,gpus_per_node,job,model,layers,hidden,heads,kv_heads,ffn_hidden,vocab,"
        "seq_len,precision,global_batch,micro_batch,tp,pp,vpp,cp,ep,sp,zero_stage_or_fsdp,"
        "recompute,measured_metric,measured_value"
    ]
    for i, seconds in enumerate((1.9, 2.4, 3.4, 4.2, 4.6, 6.5)):
        hidden = 2048 + 512 * i
        lines.append(
            f"mine-{i},A100-SXM-80GB,8,8,{{cluster: {{profile: dgx-a100-80g}}}},GPT,8,"
            f"{hidden},16,16,{4 * hidden},51200,2048,"
            f"bf16,32,2,{1 << (i % 3)},1,1,1,1,n,none,none,iteration_time_s,{seconds}"
        )
    return "\n".join(lines) + "\n"


def own_messages():
    """Times of an all-reduce in groups of three shapes, by a law."""
    lines = [
        "library,operation,nodes,ranks_of_node,groups_of_node,payload_bytes,chunk_bytes,seconds"
    ]
    for nodes, ranks in ((1, 4), (2, 2), (4, 4)):
        for power in range(10, 25):
            seconds = 1e-4 * nodes + (1 << power) / (1e9 / nodes)
            lines.append(f"gloo,all_reduce,{nodes},{ranks},1,{1 << power},0,{seconds}")
    return "\n".join(lines) + "\n"


def own_computations():
    """Times of matrix products, by a law."""
    lines = ["operator,phase,dtype,shape,flops,memory_bytes,seconds"]
    for power in range(6, 12):
        size = 1 << power
        flops, moved = 2 * size**3, 12 * size**2
        lines.append(
            f"linear,forward,fp32,{size}x{size}x{size},{flops},{moved},{1e-5 + flops / 5e10}"
        )
    return "\n".join(lines) + "\n"


OVERLAP = """\
link,operation,computation,payload_bytes,seconds_computation,seconds_message,seconds_together
inside,all_reduce,linear,1048576,2.0,1.0,2.2
network,all_reduce,linear,1048576,2.0,1.0,2.1
"""


def beginning(path, lines):
    return "".join((ROOT / path).read_text().splitlines(keepends=True)[:lines])


FILES["own_runs.csv"] = own_runs()
FILES["job_runs.csv"] = """id,tp,micro_batch,outcome,measured_metric,measured_value
a,2,1,ok,iteration_time_s,9
b,1,8,oom,,
c,2,2,failed,,
"""
FILES["job_candidates.csv"] = """id,tp,micro_batch
d,1,1
e,4,1
f,3,1
"""
FILES["own_messages.csv"] = own_messages()
FILES["own_computations.csv"] = own_computations()
FILES["own_overlap.csv"] = OVERLAP
FILES["runs.csv"] = beginning("data/training_runs.csv", 300)
FILES["a100_sxm4_80g.csv"] = beginning("data/operators/a100_sxm4_80g.csv", 400)

SCHEDULE = "--stages 4 --micro-batches 16 --forward 1 --backward 2 --weight 1"
# Schema -> runs that must answer in its form.
ANSWERS = {
    "init": ["init --model llama-3-8b --cluster dgx-h100 --gpus 8 --batch 64x4096"],
    "doctor": ["doctor"],
    "completion": ["completion bash"],
    "tune": [
        "tune examples/inline-model.yaml --top 3",
        "tune examples/mixtral-8x7b.yaml --top 1",
        "tune smallest.yaml --top 1",
        "tune packed.yaml --top 1",
        f"tune examples/llama-3-70b.yaml --against {PLAN}",
        "tune examples/inline-model.yaml --tokens 1e12 --price-per-gpu-hour 2 "
        "--sweep cluster.nodes=1,2,3",
        "tune too_large.yaml",
        "tune five_nodes.yaml",
    ],
    "predict": [
        f"predict {PLAN}",
        "predict examples/tiny-moe.plan.yaml",
        "predict large.plan.yaml",
        f"predict {PLAN} --set cluster.nic=2x",
        "predict packed.plan.yaml",
        "predict packed.plan.yaml --set batch.packing.kind=none",
        f"predict {PLAN} --tokens 1e12 --price-per-gpu-hour 2",
    ],
    "run": [
        f"run {PLAN} --tokens 1e12 --simulate 10",
        f"run {PLAN} --tokens 1e12 --failures-per-device-hour 0 --price-per-gpu-hour 2",
        "run examples/whole-run.yaml",
    ],
    "phases": ["phases examples/grpo.yaml", "phases pairs.yaml", "phases phases.plan.yaml"],
    "lengths": ["lengths data.jsonl --field ids"],
    "explain": ["explain tp8+sp:keep pp4x20 dp2 mb1 IIG/64/8 recompute:full exposed:tp,pp"],
    "memory": [
        f"memory {PLAN}",
        "memory large.plan.yaml",
        f"memory {PLAN} --snapshot snapshots/torch-2.9.pickle",
    ],
    "traffic": [
        f"traffic {PLAN}",
        f"traffic {PLAN} --rank 3 --links",
        f"traffic {PLAN} --sweep batch.length=4096,8192",
        "traffic examples/tiny-moe.plan.yaml --links",
    ],
    "study": [f"study utilization {PLAN}", f"study bandwidth {PLAN}"],
    "study-search": ["study search examples/long-context.yaml"],
    "study-schedules": [f"study schedules {SCHEDULE}", f"study schedules {SCHEDULE} --chunks 2"],
    "interleave": ["interleave dense.plan.yaml", "interleave dense.plan.yaml --no-rotation"],
    "study-collectives": [
        "study collectives dgx-h100 --nodes 1,4 --bytes 1MiB,1GiB --simulate 8",
    ],
    "list-models": ["list models"],
    "list-profiles": ["list profiles"],
    "list-shardings": ["list shardings"],
    "list-schedules": ["list schedules"],
    "list-collectives": ["list collectives"],
    "list-frameworks": ["list frameworks"],
    "validate": [
        "validate runs.csv",
        "validate data/memory.csv",
        "validate data/operators/other_gpus.csv",
        "validate data/collectives/other_clusters.csv",
    ],
    "characterize": [
        "characterize --log logs/calls.trace.0.json.gz logs/calls.trace.1.json.gz",
        "characterize --log logs/calls.flight.0",
        "characterize --log logs/nccl_mixed.trace_rank0.json.gz",
        "characterize --log logs/deepspeed.raw.json --group-size 2 --knee 4096",
        "characterize --log broken.log",
    ],
    "diagnose": [
        "diagnose hangs/skipped_call/flight.0 hangs/skipped_call/log.txt",
        "diagnose hangs/exception/log.txt",
        "diagnose examples/tiny-llama.plan.yaml hangs/exception/log.txt",
    ],
    "compare": [
        "compare examples/tiny-llama.plan.yaml --log nothing_sent.json",
        "compare two_ranks.plan.yaml --log logs/fsdp2.trace.0.json.gz logs/fsdp2.trace.1.json.gz",
        "compare examples/tiny-llama.plan.yaml --log broken.log",
    ],
    "lab-profile": ["lab profile examples/lab-4x4.yaml"],
    "fit": ["fit a100_sxm4_80g.csv -o operators.json"],
    "fit-collectives": ["fit data/collectives/gh200_120g_vista.csv -o messages.json"],
    "fit-runs": ["fit --runs own_runs.csv"],
    "fit-snapshot": [f"fit --snapshot snapshots/torch-2.9.pickle {PLAN}"],
    "tune-runs": [
        "tune examples/inline-model.yaml --runs job_runs.csv --next 2",
        "tune examples/inline-model.yaml --runs job_runs.csv --candidates job_candidates.csv",
    ],
    "fit-measured": ["fit own_messages.csv own_computations.csv own_overlap.csv -o own.json"],
    "export-mscclpp": [
        "export --to mscclpp --collective all_gather --tiers 8,2",
        "export --to mscclpp --collective all_reduce --algorithm ring --tiers 4",
    ],
    "capture": ["capture -- bash train.sh", "capture --nodes 2 -- bash gone.sh"],
    "import": ["import --from megatron train.sh --cluster dgx-h100"],
    "check": [
        "check train.sh --cluster dgx-h100",
        "check train.sh --cluster dgx-h100 --gain 1%",
        "check unstartable.sh --cluster dgx-h100",
        "check full.sh --cluster dgx-a100-40g",
        "check examples/tiny-llama.plan.yaml --log nothing_sent.json",
    ],
    "lab-check": ["lab check examples/lab-4x4.yaml"],
    "lab-run": ["lab run examples/lab-4x4.yaml -- true"],
    "lab-clean": ["lab clean"],
    "checkpoint-show": ["checkpoint show checkpoints"],
    "checkpoint-verify": ["checkpoint verify checkpoints"],
    "checkpoint-convert": ["checkpoint convert checkpoints -o weights.safetensors"],
}


def why_not(name):
    """Why the answers of a schema cannot be asked for here; None where they can."""
    if name in ("lab-check", "lab-run", "lab-clean"):
        namespace = ["unshare", "--net", "true"]
        if os.geteuid() != 0 or subprocess.run(namespace, check=False).returncode != 0:
            return "emulated clusters need network namespaces (sudo -i)"
    if name.startswith("checkpoint-") and not (COMMAND.parent / "stepwright-rank").exists():
        return "training is not built (tools/setup.sh test)"
    return None


class Place:
    """A folder with what the runs read."""

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name)
        for name in ("examples", "data"):
            (self.path / name).symlink_to(ROOT / name)
        (self.path / "logs").symlink_to(ROOT / "tests" / "logs" / "data")
        (self.path / "hangs").symlink_to(ROOT / "tests" / "diagnose" / "data")
        (self.path / "snapshots").symlink_to(ROOT / "tests" / "snapshot" / "data")
        for name, text in FILES.items():
            (self.path / name).write_text(text)
        if not why_not("checkpoint-show"):
            self.run(
                "train examples/tiny-llama.plan.yaml --data large.plan.yaml --steps 1 "
                "--checkpoint checkpoints"
            )

    def run(self, arguments):
        run = subprocess.run(
            [COMMAND, *arguments.split()],
            cwd=self.path,
            capture_output=True,
            text=True,
            check=False,
        )
        return run

    def answer(self, arguments):
        own, *ranks = arguments.split(" -- ")
        run = self.run(" -- ".join([own + " --json", *ranks]))
        try:
            return json.loads(run.stdout)
        except json.JSONDecodeError as error:
            raise AssertionError(f"{arguments}: {run.stderr}") from error


def objects_of(schema):
    """Every part of a schema that lists the keys of a mapping."""
    if isinstance(schema, dict):
        if "properties" in schema and "required" in schema:
            yield schema
        for part in schema.values():
            yield from objects_of(part)
    elif isinstance(schema, list):
        for part in schema:
            yield from objects_of(part)


def is_closed(part):
    return False in (part.get("additionalProperties"), part.get("unevaluatedProperties"))


def users_of(reference, schema):
    """Every part of a schema that refers to a definition."""
    if isinstance(schema, dict):
        if schema.get("$ref") == reference:
            yield schema
        for part in schema.values():
            yield from users_of(reference, part)


def is_closed_by_users(part, schema):
    """Whether a part is a definition that all who refer to it extend and close."""
    for name, definition in schema.get("$defs", {}).items():
        if definition is part:
            users = list(users_of(f"#/$defs/{name}", schema))
            return bool(users) and all(map(is_closed, users))
    return False


class Answers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.place = Place()

    @classmethod
    def tearDownClass(cls):
        cls.place.folder.cleanup()

    def test_have_the_form_of_their_schema(self):
        for name, runs in ANSWERS.items():
            schema = json.loads((SCHEMAS / f"{name}.json").read_text())
            for arguments in runs:
                with self.subTest(arguments):
                    if reason := why_not(name):
                        self.skipTest(reason)
                    answer = self.place.answer(arguments)
                    errors = [
                        f"{error.json_path}: {error.message[:200]}"
                        for error in Draft202012Validator(schema).iter_errors(answer)
                    ]
                    self.assertEqual(errors, [])

    def test_have_a_schema_that_lists_all_keys(self):
        files = sorted(path.stem for path in SCHEMAS.glob("*.json"))
        self.assertEqual(files, sorted(ANSWERS))
        for name in files:
            schema = json.loads((SCHEMAS / f"{name}.json").read_text())
            Draft202012Validator.check_schema(schema)
            for part in objects_of(schema):
                self.assertTrue(is_closed(part) or is_closed_by_users(part, schema), name)

    def test_with_another_key_are_refused(self):
        schema = json.loads((SCHEMAS / "memory.json").read_text())
        answer = self.place.answer(f"memory {PLAN}")
        self.assertTrue(Draft202012Validator(schema).is_valid(answer))
        answer["peak_bytes"] = 1
        self.assertFalse(Draft202012Validator(schema).is_valid(answer))


def options_of(help_text):
    """The long options of a help text, without those that every command has."""
    names = re.findall(r"^  (?:-\w,)?(--[\w-]+)", help_text, re.M)
    return set(names) - {"--help", "--json"}


class Options(unittest.TestCase):
    def test_of_every_command_are_on_a_page_of_the_site(self):
        place = Place()
        call = [sys.executable, "-B", ROOT / "tools/docs/option_page.py"]
        environment = os.environ | {"STEPWRIGHT_COMMAND": str(COMMAND)}
        page = subprocess.run(
            call, env=environment, capture_output=True, text=True, check=True
        ).stdout
        sections = dict(re.findall(r"^## `([\w ]+)`\n(.*?)(?=^## |\Z)", page, re.M | re.S))
        commands = re.findall(
            r"^  (\w+) {2,}", place.run("--help").stdout.split("Subcommands:")[1], re.M
        )
        self.assertGreater(len(commands), 20)
        labs = {"lab run", "lab check", "lab profile", "lab clean"}
        self.assertEqual(set(sections), {*commands, *labs} - {"lab"})
        self.assertIn("--against", options_of(sections["tune"]))
        self.assertIn("--grace", options_of(sections["lab run"]))
        place.folder.cleanup()


if __name__ == "__main__":
    unittest.main(verbosity=2)  # names what it skips

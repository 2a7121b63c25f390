"""Counts of files have limits: the largest that a file may say is answered or refused by name
within two seconds (a search ten) and half a gigabyte, one more is refused with the field and what
is allowed. The limits are read from the messages themselves, so that a new key is held against its
own. Runs in the root of the repository; STEPWRIGHT_COMMAND names the command."""

import copy
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import bounds
from bounds import COMMAND

MOST_BYTES = 500 << 20
PATIENCE = int(os.environ.get("STEPWRIGHT_PATIENCE", "1"))
MOST_SECONDS = 2 * PATIENCE  # of a processor
MOST_OF_SEARCH = 10 * PATIENCE  # one that finds that nothing fits looks further
BEYOND = 9_000_000_000_000_000_000  # more than any count may be

CLUSTER = {
    "name": "room",
    "device": "h100-sxm-80g",
    "nodes": 2,
    "devices_per_node": 4,
    "nics_per_node": 4,
    "nic": 50e9,
    "levels": [{"name": "nvlink", "size": 4, "bandwidth": 450e9}],
    "network": [{"name": "leaf", "nodes": 2}, {"name": "spine", "oversubscription": 2}],
}
MODEL = {"layers": 8, "hidden": 128, "heads": 8, "kv_heads": 4, "ffn": 352, "vocab": 256}
EXPERTS = {"count": 8, "top_k": 2, "ffn": 128, "shared_ffn": 128, "groups": 1, "top_groups": 1}
DENSE = {
    "model": MODEL | {"head_dim": 16, "multi_token_layers": 1, "first_position": 0},
    "cluster": CLUSTER,
    "batch": {"sequences": 16, "length": 128},
    "host_threads": 4,
    "kernels": {"loss_chunks": 1},
}
SPARSE = DENSE | {"model": MODEL | {"experts": EXPERTS}, "framework": "megatron-core"}
MIXED = DENSE | {
    "model": MODEL
    | {
        "layers": [
            {"count": 4, "mixer": "mamba2", "feed_forward": "none"},
            {"count": 4, "window": 64},
        ],
        "state_mixer": {
            "heads": 8,
            "head_dim": 32,
            "groups": 4,
            "state": 64,
            "kernel": 4,
            "chunk": 32,
        },
    }
}
SEEING = DENSE | {
    "model": MODEL
    | {
        "encoder": {
            "name": "tower",
            "parameters": 1000000,
            "projector": 1000,
            "patches": 64,
            "tokens": 16,
            "flops": 1e9,
            "layers": 2,
            "hidden": 64,
            "heads": 4,
            "ffn": 128,
            "window": 16,
            "full_layers": 1,
            "images": 1,
        }
    }
}
LATENT = DENSE | {
    "model": {"layers": 8, "hidden": 128, "heads": 8, "ffn": 352, "vocab": 256}
    | {
        "latent": {
            "query_rank": 64,
            "kv_rank": 32,
            "nope_head_dim": 16,
            "rope_head_dim": 8,
            "value_head_dim": 16,
            "index_heads": 4,
            "index_head_dim": 16,
            "index_top_k": 32,
        }
    }
}
ADAPTED = DENSE | {"adapters": {"rank": 4, "alpha": 8, "targets": "all"}}
METHOD = DENSE | {
    "objective": {
        "kind": "ppo",
        "updates": 2,
        "forward_micro_batch": 1,
        "staleness": 0,
        "critic": {"devices": 2},
        "rollout": {"tokens_per_s": 1000, "prompt": 16, "devices": 4, "tensor": 2},
        "dispatch": {"padded": 128},
    }
}
RUN = DENSE | {
    "run": {"tokens": 1e9, "spare_nodes": 1, "evaluation_tokens": 1e6, "evaluation_every": 100}
}
PLAN = {
    "parallel": {
        "tensor": 1,
        "pipeline": 2,
        "context": 1,
        "expert": 1,
        "expert_tensor": 1,
        "data": 4,
    },
    "micro_batch": 1,
    "schedule": {"kind": "interleaved", "chunks": 2, "group": 2},
    "sharding": {"states": "NNI", "group": 2},
    "recompute": {"every": 2},
    "buckets": {"gradients": 1000000, "parameters": 1000000},
}
ROW = {
    "name": "row",
    "device": "h100-sxm-80g",
    "nodes": 4,
    "devices_per_node": 2,
    "nics_per_node": 2,
    "nic": 50e9,
    "levels": [{"name": "pair", "size": 2, "bandwidth": 450e9}],
}
LARGEST = 1 << 20  # devices; passes of a step are a quarter
WIDE = DENSE | {
    "cluster": ROW | {"nodes": LARGEST // 2},
    "batch": {"sequences": 2 * LARGEST, "length": 128},
}
DEEP = DENSE | {"cluster": ROW | {"nodes": 1}, "batch": {"sequences": LARGEST // 4, "length": 128}}
SEARCH = DENSE | {"search": {"tensor": [1, 2], "pipeline": 2, "chunks": [2], "micro_batch": [1]}}


def plan_of(job, **changes):
    return {"stepwright": "plan/2", "job": job} | PLAN | changes


def job_of(job):
    return {"stepwright": "job/2"} | job


PLAIN = {"schedule": "1f1b", "sharding": "NNG", "recompute": "none"}
TUNE = ["tune", "--top", "1", "--threads", "1"]
TRAFFIC = [["predict"], ["memory"], ["traffic", "--links"]]
FILES = {
    "dense": (job_of(DENSE), [TUNE]),
    "sparse": (job_of(SPARSE), [TUNE]),
    "mixed": (job_of(MIXED), [TUNE]),
    "seeing": (job_of(SEEING), [TUNE]),
    "latent": (job_of(LATENT), [TUNE]),
    "adapted": (job_of(ADAPTED), [TUNE]),
    "method": (job_of(METHOD), [["phases", "--threads", "1"]]),
    "run": (job_of(RUN), [["run", "--threads", "1"]]),
    "search": (job_of(SEARCH), [TUNE]),
    "plan": (plan_of(DENSE), TRAFFIC),
    "experts": (plan_of(SPARSE, parallel=PLAN["parallel"] | {"expert": 2}), TRAFFIC),
    "wide": (job_of(WIDE), [TUNE]),
    "wide plan": (plan_of(WIDE, **PLAIN, parallel={"data": LARGEST}), TRAFFIC),
    "deep plan": (plan_of(DEEP, **PLAIN, parallel={"tensor": 2}), TRAFFIC),
    "split": (plan_of(DENSE, schedule="1f1b", layers=[4, 4], recompute="none"), TRAFFIC),
}


def leaves(value, path=()):
    """Paths of all whole numbers."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from leaves(inner, (*path, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from leaves(inner, (*path, index))
    elif isinstance(value, int):
        yield path


def each_field():
    """Each field of the files under each command, once."""
    seen = set()
    for name, (document, commands) in FILES.items():
        for words in commands:
            for path in leaves(document):
                field = (words[0], path[1:] if path[0] == "job" else path)
                if field not in seen:
                    seen.add(field)
                    yield name, words, document, path


def changed(document, path, value):
    copied = copy.deepcopy(document)
    inner = copied
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    return copied


def limit(seconds):
    bounds.limit_address_space(MOST_BYTES)
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))


class Runner:
    def __init__(self, folder):
        self.folder = folder
        self.count = 0

    def run(self, words, document):
        self.count += 1
        path = Path(self.folder) / f"{self.count}.json"
        path.write_text(json.dumps(document))
        seconds = MOST_OF_SEARCH if "--threads" in words else MOST_SECONDS
        with subprocess.Popen(
            [COMMAND, words[0], path, *words[1:]],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=lambda: limit(seconds),
        ) as process:
            said = process.stderr.read()
            _, status, used = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        return process.returncode, said, used.ru_utime + used.ru_stime


def bound_of(message):
    """The largest value that a refusal says is allowed; None if it says none."""
    found = re.search(r"(?:from -?[0-9.e+]+ to|at most|[0-9] to) ([0-9][0-9.e+]*)", message)
    return (
        int(float(found[1]))
        if found and "e" in found[1]
        else int(found[1].rstrip("."))
        if found
        else None
    )


class Limits(unittest.TestCase):
    def hold(self, name, words, document, path, runner):
        """Faults of one field of one file under one command."""
        where = f"{name}: {words[0]}: {'.'.join(map(str, path))}"
        key = str(path[-1] if isinstance(path[-1], str) else path[-2])
        faults = []

        def run(value):
            code, said, seconds = runner.run(words, changed(document, path, value))
            what = f"{where} = {value}: exit {code} after {seconds:.1f} s: {said[:300]}"
            if code not in (0, 2, 3) and "fits in memory" not in said:
                faults.append(what)  # A signal: it took too long.
            return code, said

        code, said = run(BEYOND)
        if code == 0:
            return faults
        if key not in said:
            faults.append(f"{where} = {BEYOND} does not name the field: {said[:300]}")
        bound = bound_of(said)
        if bound is None or bound >= BEYOND:
            return faults
        run(bound)
        code, said = run(bound + 1)
        if code == 0:
            faults.append(f"{where}: {bound + 1} is above {bound} and is taken")
        return faults

    def test_every_count_has_a_limit(self):
        with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(2) as pool:
            runner = Runner(folder)
            tasks = [
                pool.submit(self.hold, name, words, document, path, runner)
                for name, words, document, path in each_field()
            ]
            self.assertGreater(len(tasks), 80)
            faults = [fault for task in tasks for fault in task.result()]
        self.assertEqual(faults, [], "\n".join(faults))

    def test_files_are_answered_as_they_stand(self):
        with tempfile.TemporaryDirectory() as folder:
            for name, (document, commands) in FILES.items():
                for words in commands:
                    with self.subTest(name=name, words=words):
                        code, said, _ = Runner(folder).run(words, document)
                        self.assertEqual(code, 0, said)


if __name__ == "__main__":
    if sys.platform != "linux":
        sys.exit(77)
    unittest.main()

"""Runs torchtitan as one rank of many on one GPU, without the others, and counts its memory.

    python3 -B tools/data/sample_torchtitan.py OUT CASES.json [SECONDS]

The trainer of torchtitan 0.2.2 itself, with synthetic tokens, in PyTorch's "fake" process group: a
collective sends nothing, but allocates what it does among many ranks. So that numbers stay finite,
gathers repeat the rank's own part, reductions and exchanges keep it (copies inside the GPU), and
what the neighbours of a pipeline would send is random. A case (torchtitan_cases.py) is a
configuration in TOML with the number of ranks, which of them this one is, and sizes that its flavor
does not have. Writes OUT/cases.jsonl: seconds of each step, peaks and what is allocated after a
step in bytes, and the largest allocations that were alive at the peak of a further step. Cases for
which SECONDS leave no time are left out.
"""

import contextlib
import gc
import json
import os
import signal
import sys
import time
import types
from collections import Counter
from pathlib import Path

os.environ.setdefault("PYTORCH_NVML_BASED_CUDA_CHECK", "1")
# As torchtitan's run_train.sh.
os.environ.setdefault("PYTORCH_ALLOC_CONF", "expandable_segments:True")
os.environ.setdefault("PYTORCH_CUDA_ALLOC_CONF", "expandable_segments:True")

import torch
import torch.distributed as dist

HAS_GPU = torch.cuda.is_available()
DEVICE = "cuda" if HAS_GPU else "cpu"
WARM_UP = 2
LEAST, MOST = 3, 8
STEPS_TAKE_S = 4.0
LONGEST_CASE_S = 100


class Stub(types.ModuleType):
    """A module of which nothing is called."""

    __path__ = ()
    __all__ = ()

    def __getattr__(self, name: str) -> object:
        if name.startswith("__"):
            raise AttributeError(name)
        return type(name, (), {})


def stub_modules() -> None:
    names = ["datasets", "datasets.distributed", "torchdata", "torchdata.stateful_dataloader"]
    for name in names:
        sys.modules[name] = Stub(name)


class HostDevice:
    """What torchtitan asks of torch.cuda, for a dry run without a GPU."""

    def __getattr__(self, name: str) -> object:
        if hasattr(torch.cpu, name):
            return getattr(torch.cpu, name)
        return lambda *_, **__: types.SimpleNamespace(total_memory=1, name="cpu")

    def get_device_name(self, *_: object) -> str:
        return "cpu"

    def memory_stats(self, *_: object) -> dict[str, int]:
        return Counter()


def own_part(part: torch.Tensor, whole: torch.Tensor, group: object) -> None:
    """What a rank keeps of a reduction: its own rows, unsummed."""
    part.copy_(whole.view(group.size(), -1)[group.rank()].view_as(part))


def stand_in_for_shards() -> None:
    from torch.distributed.fsdp._fully_shard import _fsdp_collectives as shards

    done = types.SimpleNamespace(wait=lambda *_: True)

    def gather(self: object, output_tensor, input_tensor, group, async_op=False):
        parts, rank = output_tensor.view(group.size(), -1), group.rank()
        for others in (parts[:rank], parts[rank + 1 :]):
            others.copy_(input_tensor.view(1, -1))
        return done if async_op else None

    def reduce(self: object, output_tensor, input_tensor, group, op, async_op=False):
        own_part(output_tensor, input_tensor, group)
        return done if async_op else None

    shards.DefaultAllGather.__call__ = gather
    shards.DefaultReduceScatter.__call__ = reduce


def stand_in_for_operators() -> list[torch.library.Library]:
    from torch.distributed.distributed_c10d import _resolve_process_group

    library = torch.library.Library("_c10d_functional", "IMPL")
    key = "CUDA" if HAS_GPU else "CPU"

    def reduce_scatter(whole: torch.Tensor, _op: str, size: int, name: str) -> torch.Tensor:
        part = whole.new_empty((whole.shape[0] // size, *whole.shape[1:]))
        rank = _resolve_process_group(name).rank()
        return part.copy_(whole.narrow(0, rank * part.shape[0], part.shape[0]))

    def exchange(rows: torch.Tensor, out: list[int], _in: list[int], _name: str) -> torch.Tensor:
        got = rows.new_empty((sum(out), *rows.shape[1:]))
        shared = min(got.shape[0], rows.shape[0])
        got[:shared].copy_(rows[:shared])
        return got

    library.impl("reduce_scatter_tensor", reduce_scatter, key)
    library.impl("all_to_all_single", exchange, key)
    return [library]


def stand_in_for_stages(case: dict) -> None:
    from torch.distributed.pipelining import stage

    def received(objects: list, **_: object) -> None:
        shape = case["stage_rows"]
        objects[0] = (torch.empty(shape, dtype=torch.bfloat16, device="meta"),)

    def buffer(example: torch.Tensor, device: torch.device) -> torch.Tensor:
        made = torch.empty_strided(
            example.size(), example.stride(), dtype=example.dtype, device=device
        )
        return made.normal_(0, 0.01) if made.is_floating_point() else made.zero_()

    fake = types.SimpleNamespace(**{n: getattr(dist, n) for n in dir(dist) if n[:2] != "__"})
    fake.recv_object_list, fake.send_object_list = received, lambda *_, **__: None
    stage.dist = fake
    stage._make_tensor_from_meta = buffer


def tokens_of(vocabulary: int, rows: int, length: int) -> object:
    generator = torch.Generator().manual_seed(1)
    first = torch.randint(0, vocabulary, (rows, length + 1), generator=generator)
    batch = ({"input": first[:, :-1].contiguous()}, first[:, 1:].contiguous())

    class Tokens:
        def __iter__(self) -> object:
            while True:
                yield dict(batch[0]), batch[1]

        def state_dict(self) -> dict:
            return {}

        def load_state_dict(self, _state: dict) -> None:
            return None

    return Tokens()


def import_titan() -> types.ModuleType:
    stub_modules()
    if not HAS_GPU:
        torch._utils._get_available_device_type = lambda: "cpu"
        torch._utils._get_device_module = lambda _: HostDevice()
        torch.cuda.get_device_capability = lambda *_: (9, 0)
    import torchtitan.train as train  # noqa: I001
    import torchtitan.models.llama3
    import torchtitan.models.qwen3
    import torchtitan.models.deepseek_v3
    import torchtitan.models.llama4  # noqa: F401

    return train


def prepare(train: types.ModuleType, case: dict, folder: Path) -> object:
    """The trainer of a case."""
    import dataclasses

    from torch.testing._internal.distributed.fake_pg import FakeStore
    from torchtitan.config import ConfigManager
    from torchtitan.protocols import train_spec as specs

    path = folder / f"{case['name']}.toml"
    path.write_text(case["toml"])
    config = ConfigManager().parse_args(["--job.config_file", str(path)])
    os.environ.update(LOCAL_RANK="0", RANK=str(case["rank"]), WORLD_SIZE=str(case["ranks"]))
    dist.init_process_group("fake", rank=case["rank"], world_size=case["ranks"], store=FakeStore())
    stand_in_for_shards()
    if "stage_rows" in case:
        stand_in_for_stages(case)
    spec = specs.get_train_spec(config.model.name)
    flavors = dict(spec.model_args)
    sizes = dict(case.get("sizes", {}))
    args = flavors[config.model.flavor]
    experts = sizes.pop("moe_args", None)
    if experts:
        sizes["moe_args"] = dataclasses.replace(args.moe_args, **experts)
    args = dataclasses.replace(args, **sizes)
    # Tokens of the rank's own part of the table: others are looked up by ranks that are not there.
    vocabulary = args.vocab_size // config.parallelism.tensor_parallel_degree
    flavors[config.model.flavor] = args
    spec = dataclasses.replace(
        spec,
        model_args=flavors,
        build_tokenizer_fn=None,
        build_dataloader_fn=lambda **_: tokens_of(
            vocabulary, config.training.local_batch_size, config.training.seq_len
        ),
    )
    train.train_spec_module.get_train_spec = lambda _: spec
    return train.Trainer(config)


def memory() -> dict[str, int]:
    if not HAS_GPU:
        return {}
    stats = torch.cuda.memory_stats()
    return {
        "allocated": stats["allocated_bytes.all.peak"],
        "requested": stats["requested_bytes.all.peak"],
        "active": stats["active_bytes.all.peak"],
        "reserved": stats["reserved_bytes.all.peak"],
        "retries": stats["num_alloc_retries"],
    }


def synchronize() -> None:
    if HAS_GPU:
        torch.cuda.synchronize()


def frames_of(event: dict) -> str:
    lines = []
    for frame in event.get("frames", ()):
        name = frame["filename"]
        if not name.endswith(".py") or "sample_torchtitan" in name:
            continue
        lines.append(f"{'/'.join(name.split('/')[-2:])}:{frame['line']}:{frame['name']}")
    own = [
        line for line in lines if "torchtitan" in line or "/models/" in line or "model.py" in line
    ]
    return " < ".join(lines[:4] + own[:3])


def alive_at_peak(step: object) -> dict:
    """The largest groups of allocations that one step made and that were alive at its peak."""
    torch.cuda.memory._record_memory_history(
        enabled="all", context="alloc", stacks="python", max_entries=400000
    )
    torch.cuda.reset_peak_memory_stats()
    start = torch.cuda.memory_allocated()
    with torch.autograd.set_multithreading_enabled(False):
        step()
    synchronize()
    peak = torch.cuda.max_memory_allocated()
    trace = torch.cuda.memory._snapshot()["device_traces"][0]
    torch.cuda.memory._record_memory_history(enabled=None)
    level = best = 0
    at = 0
    for i, event in enumerate(trace):
        if event["action"] == "alloc":
            level += event["size"]
        elif event["action"] == "free_completed":
            level -= event["size"]
        if level > best:
            best, at = level, i
    alive, freed = {}, 0
    for event in trace[: at + 1]:
        if event["action"] == "alloc":
            alive[event["addr"]] = event
        elif event["action"] == "free_completed" and alive.pop(event["addr"], None) is None:
            freed += event["size"]
    groups: Counter = Counter()
    for event in alive.values():
        groups[(frames_of(event), event["size"])] += event["size"]
    rows = [[size, total // size, where] for (where, size), total in groups.most_common(40)]
    return {
        "start": start,
        "peak": peak,
        "over_start": best,
        "freed_of_start": freed,
        "events": len(trace),
        "last": frames_of(trace[at]) if trace else "",
        "alive": rows,
    }


def measure(case: dict, folder: Path, train: types.ModuleType) -> dict:
    torch.manual_seed(1)
    began = time.monotonic()
    trainer = prepare(train, case, folder)
    synchronize()
    ready = time.monotonic()
    row = {"setup_s": ready - began}
    if HAS_GPU:
        row["model_bytes"] = torch.cuda.memory_allocated()
        row["setup_peak"] = memory()
    data = iter(trainer.batch_generator(trainer.dataloader))

    def step() -> None:
        trainer.step += 1
        trainer.train_step(data)

    for _ in range(case.get("warm_up", WARM_UP)):
        step()
    synchronize()
    row["warm_s"] = time.monotonic() - ready
    if HAS_GPU:
        row["whole_peak"] = memory()
        torch.cuda.reset_peak_memory_stats()
        row["between_steps"] = torch.cuda.memory_allocated()
    seconds: list[float] = []
    until = time.monotonic() + STEPS_TAKE_S
    while len(seconds) < case.get("least", LEAST) or (
        len(seconds) < MOST and time.monotonic() < until
    ):
        start = time.perf_counter()
        step()
        synchronize()
        seconds.append(time.perf_counter() - start)
    row["seconds"] = seconds
    if HAS_GPU:
        row["peak"] = memory()
        trainer.optimizers.zero_grad()
        row["without_gradients"] = torch.cuda.memory_allocated()
        row["segments"] = torch.cuda.memory_reserved()
        numbers = [
            p.to_local() if hasattr(p, "to_local") else p
            for m in trainer.model_parts
            for p in m.parameters()
        ]
        row["parameters"] = sum(p.numel() for p in numbers)
        row["finite"] = bool(all(torch.isfinite(p).all() for p in numbers[:3]))
        if case.get("alive", True):
            with contextlib.suppress(torch.OutOfMemoryError):
                row["alive"] = alive_at_peak(step)
    return row


def clocks() -> str:
    try:
        import subprocess

        query = "--query-gpu=name,clocks.sm,power.draw,driver_version"
        return subprocess.run(
            ["nvidia-smi", query, "--format=csv,noheader"],
            capture_output=True,
            text=True,
            timeout=10,
            check=False,
        ).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return ""


def child(case: dict, out: Path, train: types.ModuleType) -> None:
    log = os.open(out / "log.txt", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(log, 1)
    os.dup2(log, 2)
    print("====", case["name"], flush=True)
    libraries = stand_in_for_operators()
    began = time.monotonic()
    try:
        row = measure(case, out, train)
    except BaseException as error:
        import traceback

        traceback.print_exc()
        row = {"error": f"{type(error).__name__}: {error}"[:600]}
        if HAS_GPU:
            row["peak"] = memory()
    row = {"name": case["name"], **row, "took_s": time.monotonic() - began, "clocks": clocks()}
    row["torch"] = torch.__version__
    with (out / "cases.jsonl").open("a") as file:
        file.write(json.dumps(row) + "\n")
    sys.stdout.flush()
    del libraries
    os._exit(0)


def run_alone(case: dict, out: Path, train: types.ModuleType, limit: float) -> None:
    """One case in a process of its own, forked before any touches the GPU."""
    began = time.monotonic()
    pid = os.fork()
    if pid == 0:
        os.setpgid(0, 0)
        child(case, out, train)
    while time.monotonic() - began < limit:
        if os.waitpid(pid, os.WNOHANG)[0] != 0:
            print(f"{case['name']} {time.monotonic() - began:.1f} s", flush=True)
            with contextlib.suppress(ProcessLookupError):
                os.killpg(pid, signal.SIGKILL)
            return
        time.sleep(0.05)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    print(f"{case['name']} stopped after {limit:.0f} s", flush=True)
    with (out / "cases.jsonl").open("a") as file:
        file.write(json.dumps({"name": case["name"], "error": "time"}) + "\n")


def main() -> None:
    out, cases = Path(sys.argv[1]).resolve(), json.loads(Path(sys.argv[2]).read_text())
    end = time.monotonic() + float(sys.argv[3] if len(sys.argv) > 3 else 600)
    began = time.monotonic()
    train = import_titan()
    assert not torch.cuda.is_initialized()
    print(f"imports {time.monotonic() - began:.1f} s", flush=True)
    gc.collect()
    for case in cases:
        left = end - time.monotonic()
        if left < case.get("needs_s", 15):
            continue
        run_alone(case, out, train, min(left, case.get("longest_s", LONGEST_CASE_S)))


if __name__ == "__main__":
    main()

"""Runs a function as the ranks of a process group: forks of this process, over loopback."""

import multiprocessing
import os
import tempfile
import time
import traceback
from collections.abc import Callable
from datetime import timedelta
from multiprocessing.connection import Connection, wait
from typing import Any

import stepwright_torch
import torch
import torch.distributed as dist

RANKS = 4
_FORK = multiprocessing.get_context("fork")

os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
os.environ.setdefault("STEPWRIGHT_TORCH_NODE_SIZE", "2")
os.environ.setdefault("STEPWRIGHT_TORCH_MIN_BYTES", "0")
torch.set_num_threads(1)


class RankError(Exception):
    """What a rank raised, as text."""


def _serve(
    rank: int,
    act: Callable[[int], Any],
    result: Connection,
    *,
    backend: str,
    seconds: float,
    init_method: str,
) -> None:
    try:
        dist.init_process_group(
            backend,
            init_method=init_method,
            rank=rank,
            world_size=RANKS,
            timeout=timedelta(seconds=seconds),
        )
        result.send((True, act(rank)))
        if dist.is_initialized():
            dist.destroy_process_group()
    except BaseException as error:
        result.send((False, f"{type(error).__name__}: {error}\n{traceback.format_exc()}"))
    finally:
        result.close()
        os._exit(0)


def outcomes(
    act: Callable[[int], Any],
    backend: str = "stepwright",
    timeout_s: float = 60,
    init_method: str = "",
    **variables: object,
) -> list[Any]:
    """What `act(rank)` returns on each rank, a `RankError` where it raised, None where it died.

    `init_method`: of `init_process_group`; empty: a file. `variables` are set as
    STEPWRIGHT_TORCH_... for the ranks.
    """
    saved = dict(os.environ)
    os.environ.update({f"STEPWRIGHT_TORCH_{name.upper()}": str(v) for name, v in variables.items()})
    with tempfile.TemporaryDirectory() as folder:
        pairs = [_FORK.Pipe(duplex=False) for _ in range(RANKS)]
        where = init_method or f"file://{folder}/store"
        group = {"backend": backend, "seconds": timeout_s, "init_method": where}
        ranks = [
            _FORK.Process(target=_serve, args=(r, act, end), kwargs=group)
            for r, (_, end) in enumerate(pairs)
        ]
        try:
            for rank in ranks:
                rank.start()
            for _, end in pairs:
                end.close()
            return _collect([start for start, _ in pairs], time.monotonic() + 2 * timeout_s + 60)
        finally:
            os.environ.clear()
            os.environ.update(saved)
            for rank in ranks:
                rank.kill()
                rank.join()


def _collect(ends: list[Connection], deadline: float) -> list[Any]:
    results: list[Any] = [None] * len(ends)
    open_ends = dict(zip(ends, range(len(ends)), strict=True))
    while open_ends:
        ready = wait(list(open_ends), max(0, deadline - time.monotonic()))
        if not ready:
            raise TimeoutError(f"ranks {sorted(open_ends.values())} do not end")
        for end in ready:
            rank = open_ends.pop(end)
            try:
                good, value = end.recv()
            except EOFError:
                continue
            results[rank] = value if good else RankError(value)
    return results


def on_ranks(act: Callable[[int], Any], backend: str = "stepwright", **others: Any) -> list[Any]:
    """As `outcomes`, where no rank may fail."""
    results = outcomes(act, backend, **others)
    failed = [f"rank {r}: {one}" for r, one in enumerate(results) if isinstance(one, RankError)]
    if failed:
        raise AssertionError("\n".join(failed))
    return results


def scheduled(operation: str, group: dist.ProcessGroup | None = None) -> int:
    """Calls of an operation that ran as schedules."""
    return sum(
        row["calls"]
        for row in stepwright_torch.report(group)["calls"]
        if row["operation"] == operation and not row["wrapped_because"]
    )

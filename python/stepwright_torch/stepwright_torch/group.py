"""Makes process groups: the wrapped backend, the schedules' channels, and the group's shape."""

import os
from datetime import timedelta

import torch
import torch.distributed as dist
from torch.distributed import PrefixStore, ProcessGroup, ProcessGroupGloo, Store

from stepwright_torch import _C
from stepwright_torch.choices import read_choices
from stepwright_torch.nodes import node_name, tiers_of
from stepwright_torch.settings import Settings

#: Rails and the inside of nodes, which do not wait for each other.
_LANES = 2


def _device():
    """The interface that GLOO_SOCKET_IFNAME names, as for Gloo itself; else that of the host."""
    interface = os.environ.get("GLOO_SOCKET_IFNAME", "").split(",")[0]
    if interface:
        return ProcessGroupGloo.create_device(interface=interface, lazy_init=False)
    return ProcessGroupGloo.create_default_device(lazy_init=False)


def _gloo(name: str, store: Store, rank: int, size: int, timeout: timedelta) -> ProcessGroupGloo:
    """A Gloo group, connected when made: a first message to a peer that stays away would wait
    for several timeouts."""
    options = ProcessGroupGloo._Options()
    options._timeout = timeout
    options._devices = [_device()]
    options._threads = 1
    options.group_name = name
    return ProcessGroupGloo(PrefixStore(f"stepwright/{name}", store), rank, size, options)


def _names_of_nodes(store: Store, rank: int, size: int, own: str) -> list[str]:
    keys = [f"stepwright/node/{other}" for other in range(size)]
    store.set(keys[rank], own)
    return [store.get(key).decode() for key in keys]


def _make(store: Store, rank: int, timeout: timedelta, global_ranks: list[int]):
    settings = Settings.from_environment()
    if settings.method not in _C.methods():
        allowed = ", ".join(_C.methods())
        raise ValueError(f"STEPWRIGHT_TORCH_METHOD: {settings.method!r} must be one of {allowed}")
    size = len(global_ranks)
    store = _C.bounded_store(store, timeout.total_seconds())
    own = node_name(global_ranks[rank], settings.node_size)
    tiers = tiers_of(_names_of_nodes(store, rank, size, own)) if size > 1 else []
    if settings.method == "halving-doubling" and size & (size - 1):
        tiers = []
    wrapped = [ProcessGroupGloo(PrefixStore("wrapped", store), rank, size, timeout)]
    if torch.cuda.is_available() and dist.is_nccl_available():
        options = dist.ProcessGroupNCCL.Options()
        options._timeout = timeout
        nccl = dist.ProcessGroupNCCL(PrefixStore("wrapped_cuda", store), rank, size, options)
        wrapped.append(nccl)
    lanes = [_gloo(f"lane{k}", store, rank, size, timeout) for k in range(_LANES if tiers else 0)]
    choice = {
        "rank": rank,
        "size": size,
        "timeout_s": timeout.total_seconds(),
        "global_ranks": global_ranks,
        "tiers": tiers,
        "method": settings.method,
        "min_bytes": settings.min_bytes,
        "choices": read_choices(settings.choices, tiers, _C.methods()),
        "chunk_bytes": settings.chunk_bytes,
        "segment_bytes": settings.segment_bytes,
    }

    def split(store: Store, ranks: list[int], timeout_s: float):
        chosen = [global_ranks[r] for r in ranks]
        return _make(store, ranks.index(rank), timedelta(seconds=timeout_s), chosen)

    return _C.create(store, choice, wrapped, lanes, split)


def create_group(options, _backend_options=None):
    """What ``init_process_group`` and ``new_group`` call."""
    global_ranks = list(options.global_ranks_in_group) or list(range(options.group_size))
    return _make(options.store, options.group_rank, options.timeout, global_ranks)


def report(group: ProcessGroup | None = None, device: str = "cpu") -> dict:
    """What a group was called for since it exists.

    ``tiers`` ([ranks of a node, nodes]; [] if nothing is scheduled), ``method``, ``min_bytes``,
    ``peak_scratch_bytes``, and ``calls``: operation, number, bytes of full buffers, and
    ``wrapped_because``, empty for those that ran as schedules.
    """
    group = dist.group.WORLD if group is None else group
    return _C.report(group._get_backend(torch.device(device)))

"""Finds which ranks of a group share a node, and the group's shape (ranks per node, nodes)."""

import os
import socket
from collections.abc import Sequence
from itertools import groupby


def node_name(global_rank: int, node_size: int, environment: dict[str, str] | None = None) -> str:
    """A word that the ranks of this rank's node, and no others, have in common.

    In this order: ``node_size``; the host with torchrun's agent (GROUP_RANK); the host with the
    block of LOCAL_WORLD_SIZE ranks; the host alone.
    """
    environment = dict(os.environ) if environment is None else environment
    if node_size > 0:
        return f"node {global_rank // node_size}"
    host = socket.gethostname()
    if "GROUP_RANK" in environment:
        return f"{host} agent {environment['GROUP_RANK']}"
    local = environment.get("LOCAL_WORLD_SIZE", "")
    if local.isdigit() and int(local) > 0:
        return f"{host} block {global_rank // int(local)}"
    return host


def tiers_of(names: Sequence[str]) -> list[int]:
    """[members, nodes] of ranks on nodes of these names, in order of rank; [] if not rectangular.

    Rectangular: the ranks of a node follow each other, and each node has as many.
    """
    runs = [(name, len(list(run))) for name, run in groupby(names)]
    sizes = {size for _, size in runs}
    if len(sizes) != 1 or len({name for name, _ in runs}) != len(runs):
        return []
    return [sizes.pop(), len(runs)]

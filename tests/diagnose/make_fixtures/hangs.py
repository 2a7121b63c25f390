"""Twelve ways in which a job of four ranks hangs, made with PyTorch over Gloo on CPUs.

    torchrun --nproc-per-node 4 hangs.py KIND FOLDER

Each rank writes a dump of its flight recorder, flight.RANK, while the job hangs
(TORCH_FR_BUFFER_SIZE must be set); what the ranks and torchrun print is the log. A rank that is
dead by then writes no dump. PyTorch 2.13 made the files of tests/diagnose/data/.
"""

import datetime
import os
import signal
import sys
import threading
import time
from pathlib import Path

import torch
import torch.distributed as dist

TIMEOUT_S = 10
DUMP_S = 6
WIDTH = 512


def steps(count):
    """Whole steps that every rank takes before the one that hangs."""
    for _ in range(count):
        dist.all_reduce(torch.ones(WIDTH))


def wrong_size(rank):
    """Rank 2 reduces a vector of another length."""
    steps(3)
    dist.all_reduce(torch.ones(96 if rank == 2 else WIDTH))


def skipped_call(rank):
    """Rank 1 leaves out one of two reductions, and goes on to the gather."""
    steps(3)
    dist.all_reduce(torch.ones(WIDTH))
    if rank != 1:
        dist.all_reduce(torch.ones(2 * WIDTH))
    dist.all_gather_into_tensor(torch.empty(4 * WIDTH), torch.ones(WIDTH))


def killed_rank(rank):
    """Rank 3 is killed."""
    steps(3)
    if rank == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    dist.all_reduce(torch.ones(WIDTH))


def stopped_rank(rank):
    """Rank 2 is stopped."""
    steps(3)
    if rank == 2:
        os.kill(os.getpid(), signal.SIGSTOP)
    dist.all_reduce(torch.ones(WIDTH))


def order_of_groups(rank):
    """Ranks 0 and 1 use two groups in another order than ranks 2 and 3."""
    first, second = dist.new_group([0, 1, 2, 3]), dist.new_group([0, 1, 2, 3])
    steps(3)
    for group in (first, second) if rank < 2 else (second, first):
        dist.all_reduce(torch.ones(WIDTH), group=group)


def exception(rank):
    """Rank 1 raises an exception and does not end."""
    steps(3)
    if rank == 1:
        raise ValueError("tokens of the batch have no end: shard 17 is damaged")
    dist.all_reduce(torch.ones(WIDTH))


def uneven_data(rank):
    """Rank 3 has one batch less than the others, and waits at the end of the epoch."""
    for _ in range(5 if rank == 3 else 6):
        dist.all_reduce(torch.ones(WIDTH))
    dist.barrier()


def missing_new_group(rank):
    """Rank 0 does not call new_group, as all ranks of a job must."""
    steps(3)
    if rank != 0:
        dist.new_group([0, 1, 2, 3])
    dist.all_reduce(torch.ones(WIDTH))


def uneven_micro_batches(rank):
    """A pipeline whose second stage expects one micro-batch more than the first one sends."""
    steps(3)
    for _ in range(3 + rank % 2):
        if rank % 2 == 0:
            dist.send(torch.ones(WIDTH), rank + 1)
        else:
            dist.recv(torch.empty(WIDTH), rank - 1)
    dist.all_reduce(torch.ones(WIDTH))


def evaluation(rank):
    """Rank 0 evaluates alone, and its gather finds nobody."""
    steps(3)
    if rank == 0:
        dist.all_gather_into_tensor(torch.empty(4 * WIDTH), torch.ones(WIDTH))
    dist.all_reduce(torch.ones(WIDTH))


def idle_expert(rank):
    """An expert that got no tokens has no gradient: rank 2 reduces fewer of them."""
    steps(3)
    for expert in range(4):
        if not (rank == 2 and expert == 1):
            dist.all_reduce(torch.ones(WIDTH + expert))


def waiting_checkpoint(rank):
    """Rank 0 writes a checkpoint and does not come back."""
    steps(3)
    if rank == 0:
        time.sleep(3 * TIMEOUT_S)
    dist.barrier()


KINDS = {
    f.__name__: f
    for f in (
        wrong_size,
        skipped_call,
        killed_rank,
        stopped_rank,
        order_of_groups,
        exception,
        uneven_data,
        missing_new_group,
        uneven_micro_batches,
        evaluation,
        idle_expert,
        waiting_checkpoint,
    )
}


def dump(folder, rank, after_s):
    time.sleep(after_s)
    file = Path(folder) / f"flight.{rank}"
    if file.exists():
        return
    trace = torch._C._distributed_c10d._dump_fr_trace(includeCollectives=True, onlyActive=False)
    file.write_bytes(trace)


def main():
    kind, folder = sys.argv[1:]
    rank = int(os.environ["RANK"])
    dist.init_process_group("gloo", timeout=datetime.timedelta(seconds=TIMEOUT_S))
    threading.Thread(target=dump, args=(folder, rank, DUMP_S), daemon=True).start()
    try:
        KINDS[kind](rank)
    except RuntimeError:
        dump(folder, rank, 0)
        raise


if __name__ == "__main__":
    main()

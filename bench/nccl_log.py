"""Writes a log as large as wanted in the form of NCCL_DEBUG=INFO, for the speed of readers.

    python bench/nccl_log.py BYTES > nccl.log
    /usr/bin/time -v build/release/stepwright characterize --log nccl.log

Eight ranks of one node train with tensor and sequence parallelism over four of them and send
activations to a next pipeline position; every line is a call.
"""

import sys

LAYERS = 32
TENSOR = "0x5581d2e0"
WORLD = "0x5581a0c0"


def prefix(rank):
    return f"node-0:{4000 + rank}:{4100 + rank} [{rank}] NCCL INFO "


def begun(rank, comm, members, name):
    return (
        f"{prefix(rank)}ncclCommInitRank comm {comm} rank {members.index(rank)} "
        f"nranks {len(members)} cudaDev {rank} nvmlDev {rank} busId {rank:x}000 commId {name} "
        f"- Init COMPLETE\n"
    )


def call(rank, name, number, count, *, comm, size, root=0):
    return (
        f"{prefix(rank)}{name}: opCount {number:x} sendbuff 0x7f{number % 4096:04x}2a000000 "
        f"recvbuff 0x7f{number % 4096:04x}3a000000 count {count} datatype 9 op 0 root {root} "
        f"comm {comm} [nranks={size}] stream 0x5581c7b{rank:x}\n"
    )


def step(number):
    """Lines of a step of all ranks; one micro-batch."""
    lines = []
    for rank in range(8):
        other = (rank + 4) % 8
        for i in range(4 * LAYERS):
            lines.append(call(rank, "AllGather", number + 2 * i, 4194304, comm=TENSOR, size=4))
            lines.append(
                call(rank, "ReduceScatter", number + 2 * i + 1, 4194304, comm=TENSOR, size=4)
            )
        name = "Send" if rank < 4 else "Recv"
        lines.append(call(rank, name, number, 16777216, comm=WORLD, size=8, root=other))
        lines.append(call(rank, "AllReduce", number + 1, 1, comm=WORLD, size=8))
    return "".join(lines)


def main():
    size = int(float(sys.argv[1]))
    out = sys.stdout
    written = 0
    for rank in range(8):
        tensor = [4 * (rank // 4) + i for i in range(4)]
        written += out.write(begun(rank, WORLD, list(range(8)), "0xa1"))
        written += out.write(begun(rank, TENSOR, tensor, f"0xb{rank // 4}"))
    number = 0
    while written < size:
        written += out.write(step(number))
        number += 8 * LAYERS


if __name__ == "__main__":
    main()

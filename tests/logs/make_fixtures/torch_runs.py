"""Small training runs of PyTorch over Gloo on CPUs that record themselves: one trace of the
profiler, one execution trace and one flight recorder dump for each rank.

    python torch_runs.py RUN FOLDER

RUN is ddp, fsdp2, tensor, pipeline, context, experts or calls. The files are what tests/logs/data/
keeps, packed where they are large. PyTorch 2.13 made those.
"""

import os
import sys
from pathlib import Path

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.profiler import ExecutionTraceObserver, ProfilerActivity, profile, schedule

RANKS = {"ddp": 2, "fsdp2": 2, "tensor": 2, "pipeline": 2, "context": 2, "experts": 3, "calls": 4}
STEPS = 3
WIDTH = 64
BATCH = 8


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.up = nn.Linear(WIDTH, 4 * WIDTH)
        self.down = nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x):
        return x + self.down(torch.relu(self.up(x)))


def model():
    torch.manual_seed(0)
    return nn.Sequential(Block(), Block(), nn.Linear(WIDTH, WIDTH))


def trainer(net):
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)

    def step():
        net(torch.randn(BATCH, WIDTH)).square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()

    return step


def ddp(_rank):
    return trainer(nn.parallel.DistributedDataParallel(model(), bucket_cap_mb=0.1))


def fsdp2(_rank):
    from torch.distributed.fsdp import fully_shard

    net = model()
    mesh = dist.device_mesh.init_device_mesh("cpu", (dist.get_world_size(),))
    for layer in net:
        fully_shard(layer, mesh=mesh)
    fully_shard(net, mesh=mesh)
    return trainer(net)


def tensor(_rank):
    from torch.distributed.tensor.parallel import (
        ColwiseParallel,
        RowwiseParallel,
        parallelize_module,
    )

    net = model()
    mesh = dist.device_mesh.init_device_mesh("cpu", (dist.get_world_size(),))
    for layer in list(net)[:2]:
        parallelize_module(layer, mesh, {"up": ColwiseParallel(), "down": RowwiseParallel()})
    return trainer(net)


def pipeline(rank):
    from torch.distributed.pipelining import PipelineStage, Schedule1F1B

    part = model()[rank : rank + 1]
    stage = PipelineStage(part, rank, dist.get_world_size(), torch.device("cpu"))
    last = rank == dist.get_world_size() - 1
    run = Schedule1F1B(stage, 4, loss_fn=lambda out, _target: out.square().mean())

    def step():
        if rank == 0:
            run.step(torch.randn(4 * BATCH, WIDTH))
        elif last:
            run.step(target=torch.zeros(4 * BATCH, WIDTH), losses=[])
        else:
            run.step()

    return step


def context(rank):
    """The exchanges of Ulysses and the ring of keys and values around one attention each."""
    size = dist.get_world_size()
    before, after = (rank - 1) % size, (rank + 1) % size

    def step():
        heads = torch.randn(4, 16, 8)
        dist.all_to_all_single(torch.empty_like(heads), heads)
        keys = torch.randn(2, 16, 8)
        for _ in range(size - 1):
            got = torch.empty_like(keys)
            calls = [dist.P2POp(dist.isend, keys, after), dist.P2POp(dist.irecv, got, before)]
            for work in dist.batch_isend_irecv(calls):
                work.wait()
            keys = got

    return step


def experts(rank):
    """Two layers with an expert on each rank: rows go where a router sends them and come back. The
    router is learned, so that its choices move from step to step."""
    torch.manual_seed(rank)
    ranks = dist.get_world_size()
    routers = [nn.Linear(WIDTH, ranks) for _ in range(2)]
    optimizer = torch.optim.SGD([p for r in routers for p in r.parameters()], lr=0.3)

    def exchange(rows, counts, back=False):
        there = torch.empty_like(counts)
        dist.all_to_all_single(there, counts)
        sent, got = (there, counts) if back else (counts, there)
        out = torch.empty(int(got.sum()), WIDTH)
        dist.all_to_all_single(out, rows, got.tolist(), sent.tolist())
        return out

    def step():
        x = torch.randn(4 * BATCH, WIDTH)
        loss = 0
        for router in routers:
            weights = router(x).softmax(dim=-1)
            choice = weights.argmax(dim=-1)
            counts = torch.bincount(choice, minlength=ranks)
            rows = exchange(x[choice.argsort()], counts)
            x = x + exchange(rows, counts, back=True)
            loss = loss + weights[:, rank].mean()
        loss.backward()
        for router in routers:
            dist.all_reduce(router.weight.grad)
        optimizer.step()
        optimizer.zero_grad()

    return step


def calls(rank):
    """Every call once a step: of all ranks, and of two groups of two."""
    pairs = [dist.new_group([0, 1]), dist.new_group([2, 3])]
    pair = pairs[rank // 2]

    def step():
        size = dist.get_world_size()
        part, whole = torch.ones(6), torch.ones(6 * size)
        dist.all_reduce(torch.ones(5, dtype=torch.bfloat16))
        dist.all_reduce(torch.ones(7), group=pair)
        dist.all_gather_into_tensor(whole, part)
        dist.all_gather_into_tensor(torch.ones(12), part, group=pair)
        dist.all_gather([torch.ones(3) for _ in range(size)], torch.ones(3))
        dist.reduce_scatter_tensor(part, whole)
        dist.reduce_scatter_tensor(part, torch.ones(12), group=pair)
        dist.all_to_all_single(torch.ones(8), torch.ones(8))
        dist.broadcast(torch.ones(9, dtype=torch.int64), 0)
        dist.reduce(torch.ones(10), 0)
        peer = rank ^ 1
        if rank % 2 == 0:
            dist.send(torch.ones(11), peer)
        else:
            dist.recv(torch.ones(11), peer)
        dist.barrier()

    return step


def record(rank, name, folder, ranks):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="29571")
    torch.set_num_threads(1)
    dist.init_process_group("gloo", rank=rank, world_size=ranks)
    step = globals()[name](rank)
    observer = ExecutionTraceObserver()
    observer.register_callback(str(folder / f"{name}.et.{rank}.json"))
    wait = schedule(wait=1, warmup=1, active=STEPS, repeat=1)
    with profile(
        activities=[ProfilerActivity.CPU],
        schedule=wait,
        record_shapes=True,
        execution_trace_observer=observer,
        on_trace_ready=lambda done: done.export_chrome_trace(
            str(folder / f"{name}.trace.{rank}.json")
        ),
    ) as recorded:
        for _ in range(2 + STEPS):
            step()
            recorded.step()
    dist.barrier()
    from torch._C._distributed_c10d import _dump_fr_trace, _dump_fr_trace_json

    (folder / f"{name}.flight.{rank}").write_bytes(_dump_fr_trace(includeStackTraces=False))
    (folder / f"{name}.flight.{rank}.json").write_bytes(_dump_fr_trace_json())
    dist.destroy_process_group()


def main():
    name, folder = sys.argv[1], Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    mp.spawn(record, args=(name, folder, RANKS[name]), nprocs=RANKS[name])


if __name__ == "__main__":
    main()

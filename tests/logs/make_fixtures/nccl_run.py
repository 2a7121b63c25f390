"""Every call of NCCL, recorded by all that can: NCCL's own lines, the profiler, an execution trace
and the flight recorder. Four ranks that share one GPU, which NCCL takes for four nodes.

    OUTDIR=FOLDER torchrun --nproc-per-node 4 nccl_run.py mixed

PyTorch with NCCL 2.28.9 made the files `nccl_*` of tests/logs/data/, packed since; `fsdp` instead
of `mixed` trains with FSDP2.
"""

import os
import sys

RANK, WORLD, OUT = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"]), os.environ["OUTDIR"]
KIND = sys.argv[1]
os.environ.update(
    NCCL_HOSTID=f"host{RANK}",
    NCCL_SOCKET_IFNAME="lo",
    NCCL_IB_DISABLE="1",
    NCCL_CUMEM_ENABLE="0",
    NCCL_DEBUG="INFO",
    NCCL_DEBUG_SUBSYS="INIT,COLL,TUNING,P2P,NET,GRAPH",
    NCCL_DEBUG_FILE=f"{OUT}/nccl_{KIND}.rank{RANK}.log",
    TORCH_FR_BUFFER_SIZE="2000",
    TORCH_NCCL_TRACE_BUFFER_SIZE="2000",
)

import torch  # noqa: E402
import torch.distributed as dist  # noqa: E402
from torch import nn  # noqa: E402
from torch.profiler import ExecutionTraceObserver, ProfilerActivity, profile  # noqa: E402

WIDTH = 256


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(WIDTH)
        self.up = nn.Linear(WIDTH, 4 * WIDTH)
        self.down = nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x):
        return x + self.down(nn.functional.gelu(self.up(self.norm(x))))


def every_call(model, pair):
    def step():
        x = torch.randn(8, 64, WIDTH, device="cuda")
        y = model(x)
        dist.all_reduce(y.detach().clone(), group=pair)
        full = torch.empty(16, 64, WIDTH, device="cuda")
        dist.all_gather_into_tensor(full, x, group=pair)
        dist.reduce_scatter_tensor(torch.empty_like(x), full, group=pair)
        rows = torch.randn(WORLD * 16, WIDTH, device="cuda")
        dist.all_to_all_single(torch.empty_like(rows), rows)
        if RANK % 2 == 0:
            dist.send(x, RANK + 1)
        else:
            dist.recv(torch.empty_like(x), RANK - 1)
        calls = [
            dist.P2POp(dist.isend, x, (RANK + 1) % WORLD),
            dist.P2POp(dist.irecv, torch.empty_like(x), (RANK - 1) % WORLD),
        ]
        for work in dist.batch_isend_irecv(calls):
            work.wait()
        dist.broadcast(rows, 0)
        y.sum().backward()
        for parameter in model.parameters():
            dist.all_reduce(parameter.grad)
        model.zero_grad()

    return step


def fsdp(model):
    from torch.distributed.fsdp import fully_shard

    for block in model:
        fully_shard(block)
    fully_shard(model)

    def step():
        x = torch.randn(8, 64, WIDTH, device="cuda")
        model(x).pow(2).mean().backward()
        dist.all_reduce(torch.ones(1, device="cuda"))
        model.zero_grad()

    return step


def main():
    torch.cuda.set_device(0)
    dist.init_process_group("nccl", device_id=torch.device("cuda:0"))
    torch.manual_seed(0)
    model = nn.Sequential(*[Block() for _ in range(4)]).cuda()
    pairs = [dist.new_group([0, 1]), dist.new_group([2, 3])]
    step = fsdp(model) if KIND == "fsdp" else every_call(model, pairs[RANK // 2])
    for _ in range(2):
        step()
    observer = ExecutionTraceObserver()
    observer.register_callback(f"{OUT}/nccl_{KIND}.et_rank{RANK}.json")
    both = [ProfilerActivity.CPU, ProfilerActivity.CUDA]
    with profile(activities=both, record_shapes=True) as recorded:
        observer.start()
        for _ in range(2):
            step()
            recorded.step()
        torch.cuda.synchronize()
        observer.stop()
    observer.unregister_callback()
    recorded.export_chrome_trace(f"{OUT}/nccl_{KIND}.trace_rank{RANK}.json.gz")
    with open(f"{OUT}/nccl_{KIND}.flight_rank{RANK}", "wb") as dump:
        dump.write(torch._C._distributed_c10d._dump_nccl_trace(includeStackTraces=False))
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

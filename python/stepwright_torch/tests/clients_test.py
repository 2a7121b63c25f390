"""Training programs get the same losses as with Gloo."""

import itertools
import shutil
import tempfile
import unittest
from collections.abc import Callable

import stepwright_torch
import torch
import torch.distributed as dist
import torch.distributed.checkpoint as checkpoint
from ranks import RANKS, on_ranks
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.optim import ZeroRedundancyOptimizer
from torch.distributed.pipelining import PipelineStage, ScheduleGPipe
from torch.distributed.tensor import Partial, Replicate, Shard, distribute_tensor
from torch.nn.parallel import DistributedDataParallel

STEPS = 4
WIDTH = 24


def model() -> nn.Sequential:
    torch.manual_seed(7)
    layers = [nn.Sequential(nn.Linear(WIDTH, 3 * WIDTH), nn.Tanh(), nn.Linear(3 * WIDTH, WIDTH))]
    layers += [nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, WIDTH, bias=False), nn.Linear(WIDTH, 5)]
    return nn.Sequential(*layers).double()


def batches(rank: int) -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(100 + rank)
    return [torch.randn(6, WIDTH, generator=generator, dtype=torch.double) for _ in range(STEPS)]


def operations_scheduled() -> set[str]:
    """Operations that ran as schedules, in any group of this rank."""
    names = set()
    for group in dist.distributed_c10d._world.pg_map:
        if dist.get_backend(group) == "stepwright":
            rows = stepwright_torch.report(group)["calls"]
            names |= {row["operation"] for row in rows if not row["wrapped_because"]}
    return names


def train(net: nn.Module, optimizer: torch.optim.Optimizer, rank: int) -> list[float]:
    losses = []
    for batch in batches(rank):
        loss = net(batch).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.item())
    return losses


def with_ddp(rank: int) -> tuple[list[float], set[str]]:
    net = DistributedDataParallel(model(), bucket_cap_mb=0.01)
    return train(net, torch.optim.AdamW(net.parameters(), lr=0.01), rank), operations_scheduled()


def with_zero(rank: int) -> tuple[list[float], set[str]]:
    net = DistributedDataParallel(model())
    optimizer = ZeroRedundancyOptimizer(net.parameters(), torch.optim.AdamW, lr=0.01)
    return train(net, optimizer, rank), operations_scheduled()


def with_fsdp(rank: int, shape: tuple[int, ...]) -> tuple[list[float], set[str]]:
    names = ("replicate", "shard")[-len(shape) :]
    mesh = init_device_mesh("cpu", shape, mesh_dim_names=names)
    net = model()
    for layer in net:
        fully_shard(layer, mesh=mesh)
    fully_shard(net, mesh=mesh)
    return train(net, torch.optim.AdamW(net.parameters(), lr=0.01), rank), operations_scheduled()


def with_fsdp_1d(rank: int) -> tuple[list[float], set[str]]:
    return with_fsdp(rank, (RANKS,))


def with_fsdp_2d(rank: int) -> tuple[list[float], set[str]]:
    return with_fsdp(rank, (2, 2))


def with_pipeline(rank: int) -> tuple[list[float], set[str]]:
    net = model()
    stage = PipelineStage(net[rank], rank, RANKS, torch.device("cpu"))
    optimizer = torch.optim.AdamW(net[rank].parameters(), lr=0.01)
    schedule = ScheduleGPipe(stage, 3, loss_fn=lambda out, _: out.square().mean())
    totals = []
    for batch in batches(0):
        losses: list[torch.Tensor] = []
        last = {"target": torch.zeros(6), "losses": losses} if rank == RANKS - 1 else {}
        schedule.step(*((batch,) if rank == 0 else ()), **last)
        optimizer.step()
        optimizer.zero_grad()
        total = torch.stack(losses).sum() if losses else torch.zeros((), dtype=torch.double)
        dist.all_reduce(total)
        totals.append(total.item())
    return totals, operations_scheduled()


def with_dtensor(rank: int) -> tuple[list[float], set[str]]:
    values = []
    whole = torch.arange(8.0 * 12, dtype=torch.double).view(8, 12)
    for shape in ((RANKS,), (2, 2)):
        mesh = init_device_mesh("cpu", shape)
        places = [Shard(0), Shard(1), Replicate()]
        for first, second in itertools.product(places, places):
            tensor = distribute_tensor(whole, mesh, [first] * len(shape))
            moved = tensor.redistribute(mesh, [second] * len(shape))
            assert torch.equal(moved.full_tensor(), whole)
            values.append(moved.to_local().sum().item())
    mesh = init_device_mesh("cpu", (RANKS,))
    partial = torch.distributed.tensor.DTensor.from_local(whole + rank, mesh, [Partial()])
    assert torch.equal(partial.full_tensor(), RANKS * whole + 6)
    scattered = partial.redistribute(mesh, [Shard(0)])
    assert torch.equal(scattered.full_tensor(), RANKS * whole + 6)
    return values, operations_scheduled()


def saved_in(folder: str) -> Callable[[int], tuple[list[float], set[str]]]:
    def save_and_load(rank: int) -> tuple[list[float], set[str]]:
        mesh = init_device_mesh("cpu", (RANKS,))
        net = model()
        fully_shard(net, mesh=mesh)
        before = train(net, torch.optim.AdamW(net.parameters(), lr=0.01), rank)
        checkpoint.save({"net": net.state_dict()}, checkpoint_id=folder)
        again = model()
        fully_shard(again, mesh=mesh)
        state = {"net": again.state_dict()}
        checkpoint.load(state, checkpoint_id=folder)
        again.load_state_dict(state["net"])
        for a, b in zip(net.parameters(), again.parameters(), strict=True):
            assert torch.equal(a.to_local(), b.to_local())
        return before, operations_scheduled()

    return save_and_load


class Clients(unittest.TestCase):
    def expect_as_gloo(self, act: Callable[[int], tuple[list[float], set[str]]], *operations: str):
        ours = on_ranks(act)
        theirs = on_ranks(act, backend="gloo")
        for (losses, scheduled), (expected, _) in zip(ours, theirs, strict=True):
            self.assertTrue(losses)
            for ours_one, theirs_one in zip(losses, expected, strict=True):
                self.assertAlmostEqual(ours_one, theirs_one, delta=1e-12 * (1 + abs(theirs_one)))
            self.assertLessEqual(set(operations), scheduled)

    def test_ddp(self):
        self.expect_as_gloo(with_ddp, "all_reduce")

    def test_zero_redundancy_optimizer(self):
        self.expect_as_gloo(with_zero, "all_reduce")

    def test_fsdp_on_one_dimension(self):
        self.expect_as_gloo(with_fsdp_1d, "all_gather", "reduce_scatter")

    def test_fsdp_on_two_dimensions(self):
        self.expect_as_gloo(with_fsdp_2d, "all_gather", "reduce_scatter", "all_reduce")

    def test_pipeline(self):
        self.expect_as_gloo(with_pipeline, "all_reduce")

    def test_dtensor(self):
        self.expect_as_gloo(with_dtensor, "all_gather", "reduce_scatter")

    def test_distributed_checkpoint(self):
        folder = tempfile.mkdtemp()
        try:
            self.expect_as_gloo(saved_in(folder), "all_gather", "reduce_scatter")
        finally:
            shutil.rmtree(folder)


if __name__ == "__main__":
    unittest.main()

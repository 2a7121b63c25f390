"""Compares every form of the collectives with sums computed separately."""

import tempfile
import unittest

import stepwright_torch
import torch
import torch.distributed as dist
from ranks import RANKS, on_ranks, scheduled

INTEGERS = (torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8)
FLOATS = (torch.float64, torch.float32, torch.float16, torch.bfloat16)
SIZES = (1, 2, 7, 8, 1000, 4099)
METHODS = ("ho-ring", "two-level", "ring", "direct", "halving-doubling")


def given(rank: int, count: int, dtype: torch.dtype) -> torch.Tensor:
    """What a rank contributes: small whole numbers, exact in every type."""
    return ((torch.arange(count) * 7 + rank * 3) % 13 - (0 if dtype == torch.uint8 else 5)).to(
        dtype
    )


def all_given(count: int, dtype: torch.dtype) -> torch.Tensor:
    return torch.stack([given(rank, count, dtype) for rank in range(RANKS)])


def same(actual: torch.Tensor, expected: torch.Tensor) -> None:
    assert torch.equal(actual, expected), f"{actual} is not {expected}"


def check_reductions(rank: int) -> None:
    for dtype in INTEGERS + FLOATS:
        for count in SIZES:
            total = all_given(count, dtype).sum(0, dtype=dtype)
            tensor = given(rank, count, dtype)
            dist.all_reduce(tensor)
            same(tensor, total)
            everything = all_given(RANKS * count, dtype)
            part = torch.empty(count, dtype=dtype)
            dist.reduce_scatter_tensor(part, given(rank, RANKS * count, dtype))
            same(part, everything.sum(0, dtype=dtype)[rank * count : (rank + 1) * count])
            for op, least in ((dist.ReduceOp.MIN, True), (dist.ReduceOp.MAX, False)):
                tensor = given(rank, count, dtype)
                dist.all_reduce(tensor, op=op)
                stacked = all_given(count, dtype)
                same(tensor, stacked.amin(0) if least else stacked.amax(0))
    assert scheduled("all_reduce") == 9 * len(SIZES) * 3
    assert scheduled("reduce_scatter") == 9 * len(SIZES)


def check_scaled(rank: int) -> None:
    for dtype in FLOATS:
        for count in SIZES:
            total = all_given(count, dtype).sum(0, dtype=dtype)
            tensor = given(rank, count, dtype)
            dist.all_reduce(tensor, op=dist.ReduceOp.AVG)
            same(tensor, total / RANKS)
            tensor = given(rank, count, dtype)
            dist.all_reduce(tensor, op=dist._make_nccl_premul_sum(0.5))
            same(tensor, total / 2)
            part = torch.empty(count, dtype=dtype)
            full = given(rank, RANKS * count, dtype)
            dist.reduce_scatter_tensor(part, full, op=dist._make_nccl_premul_sum(2.0))
            whole = all_given(RANKS * count, dtype).sum(0, dtype=dtype)
            same(part, 2 * whole[rank * count : (rank + 1) * count])
            same(full, given(rank, RANKS * count, dtype))


def check_gathers(rank: int) -> None:
    for dtype in (*INTEGERS, *FLOATS, torch.bool, torch.complex64):
        for count in SIZES:
            out = torch.empty(RANKS * count, dtype=dtype)
            dist.all_gather_into_tensor(out, given(rank, count, dtype))
            same(out, all_given(count, dtype).flatten())
            mixed = torch.empty(RANKS * count, dtype=dtype)
            dist.all_to_all_single(mixed, given(rank, RANKS * count, dtype))
            blocks = [given(r, RANKS * count, dtype).view(RANKS, -1)[rank] for r in range(RANKS)]
            same(mixed, torch.cat(blocks))
    assert scheduled("all_gather") == scheduled("all_to_all") == 11 * len(SIZES)


def check_lists(rank: int) -> None:
    shape = (3, 5)
    inputs = [torch.full(shape, float(10 * rank + r)) for r in range(RANKS)]
    outputs = [torch.empty(shape) for _ in range(RANKS)]
    dist.all_gather(outputs, inputs[0])
    for r, output in enumerate(outputs):
        same(output, torch.full(shape, 10.0 * r))
    part = torch.empty(shape)
    dist.reduce_scatter(part, inputs)
    same(part, torch.full(shape, 60.0 + 4 * rank))
    objects = [None] * RANKS
    dist.all_gather_object(objects, {"rank": rank})
    assert objects == [{"rank": r} for r in range(RANKS)]
    assert scheduled("all_gather") >= 1
    assert scheduled("reduce_scatter") == 1


def check_coalesced(rank: int) -> None:
    tensors = [torch.full((n, 2), float(rank + n)) for n in (1, 3, 500)]
    with dist._coalescing_manager(device=torch.device("cpu")):
        for tensor in tensors:
            dist.all_reduce(tensor)
    for n, tensor in zip((1, 3, 500), tensors, strict=True):
        same(tensor, torch.full((n, 2), 6.0 + 4 * n))
    ins = [torch.full((n,), float(rank)) for n in (2, 30)]
    outs = [torch.empty(n * RANKS) for n in (2, 30)]
    with dist._coalescing_manager(device=torch.device("cpu"), async_ops=True) as manager:
        for out, tensor in zip(outs, ins, strict=True):
            dist.all_gather_into_tensor(out, tensor)
    manager.wait()
    parts = [torch.empty(n) for n in (2, 30)]
    with dist._coalescing_manager(device=torch.device("cpu")):
        for part, out in zip(parts, outs, strict=True):
            dist.reduce_scatter_tensor(part, out)
    for part in parts:
        same(part, torch.full_like(part, 4.0 * rank))
    assert scheduled("all_reduce") == 1
    assert scheduled("all_gather") == scheduled("reduce_scatter") == 2


def check_odd_input(rank: int) -> None:
    for dtype in (torch.float32, torch.int64):
        empty = torch.empty(0, dtype=dtype)
        dist.all_reduce(empty)
        dist.all_gather_into_tensor(torch.empty(0, dtype=dtype), empty)
    scalar = torch.tensor(float(rank))
    dist.all_reduce(scalar)
    same(scalar, torch.tensor(6.0))
    strided = torch.arange(24.0).view(4, 6).t() + rank
    whole = strided.clone()
    dist.all_reduce(strided)
    same(strided, 4 * (whole - rank) + 6)
    column = torch.zeros(5, 3)
    dist.all_reduce(column[:, 1].fill_(rank))
    same(column, torch.tensor([[0.0, 6.0, 0.0]]).expand(5, 3))
    block = torch.zeros(RANKS, 9)
    block[rank] = rank + 1
    dist.all_gather_into_tensor(block, block[rank : rank + 1])  # In place, as FSDP does.
    same(block, torch.arange(1.0, 5.0).view(-1, 1).expand(RANKS, 9))
    full = torch.arange(36.0).view(RANKS, 9)
    dist.reduce_scatter_tensor(full[rank], full)
    same(full[rank], 4 * torch.arange(36.0).view(RANKS, 9)[rank])
    weight = torch.ones(40, requires_grad=True)
    dist.all_reduce(weight.detach())
    same(weight, torch.full((40,), 4.0))


def check_works(rank: int) -> None:
    tensors = [torch.full((1000,), float(rank + i)) for i in range(20)]
    works = [dist.all_reduce(tensor, async_op=True) for tensor in tensors]
    futures = [work.get_future().then(lambda f: f.value()[0][0].item()) for work in works]
    for i, (work, future) in enumerate(zip(works, futures, strict=True)):
        assert future.wait() == 6.0 + 4 * i
        work.wait()
        assert work.is_completed()
        same(tensors[i], torch.full((1000,), 6.0 + 4 * i))
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profile:
        dist.all_reduce(tensors[0])
    names = {event.key for event in profile.key_averages()}
    assert "stepwright:all_reduce" in names, names
    assert "record_param_comms" in names, names


def check_groups(rank: int) -> None:
    groups = [dist.new_group(ranks) for ranks in ([0, 1], [1, 3], [0, 1, 2], [2])]
    shapes = ([2, 1], [1, 2], [], [])
    members = ([0, 1], [1, 3], [0, 1, 2], [2])
    for group, ranks, shape in zip(groups, members, shapes, strict=True):
        if rank not in ranks:
            continue
        tensor = torch.full((50,), float(rank))
        dist.all_reduce(tensor, group=group)
        same(tensor, torch.full((50,), float(sum(ranks))))
        report = stepwright_torch.report(group)
        assert report["tiers"] == shape, report
        (row,) = [row for row in report["calls"] if row["operation"] == "all_reduce"]
        expected = "" if shape else ("one rank" if len(ranks) == 1 else "layout")
        assert row["wrapped_because"] == expected, row
    pair = [2 * (rank // 2), 2 * (rank // 2) + 1]
    half = dist.group.WORLD.split_group(pair, group_name=f"half{rank // 2}")
    tensor = torch.full((50,), float(rank))
    half.allreduce(tensor).wait()
    same(tensor, torch.full((50,), float(sum(pair))))
    assert stepwright_torch.report(half)["tiers"] == [2, 1]
    assert scheduled("all_reduce", half) == 1


def random_sum(rank: int) -> list[float]:
    generator = torch.Generator().manual_seed(rank)
    tensor = torch.randn(100_003, generator=generator)
    dist.all_reduce(tensor)
    return tensor.tolist()


def flat_sum() -> torch.Tensor:
    parts = [torch.randn(100_003, generator=torch.Generator().manual_seed(r)) for r in range(RANKS)]
    return torch.stack(parts).double().sum(0)


def large_call(rank: int) -> dict:
    tensor = torch.arange(300_001) * (rank + 1)
    dist.all_reduce(tensor)
    same(tensor, torch.arange(300_001) * 10)
    out = torch.empty(4 * 60_000, dtype=torch.int64)
    dist.all_gather_into_tensor(out, torch.arange(60_000) + rank)
    same(out, torch.cat([torch.arange(60_000) + r for r in range(RANKS)]))
    part = torch.empty(60_000, dtype=torch.int64)
    dist.reduce_scatter_tensor(part, out)
    same(part, 4 * (torch.arange(60_000) + rank))
    return stepwright_torch.report()


def small_calls(_rank: int) -> list[tuple]:
    for count in (255, 256):
        dist.all_reduce(torch.ones(count))
    dist.all_reduce(torch.ones(1000), op=dist.ReduceOp.PRODUCT)
    dist.broadcast(torch.ones(1000), 0)
    dist.barrier()
    calls = stepwright_torch.report()["calls"]
    return [(row["operation"], row["wrapped_because"], row["calls"], row["bytes"]) for row in calls]


def calls_of_two_sizes(_rank: int) -> list[tuple]:
    for count in (1000, 100_000):
        dist.all_reduce(torch.ones(count))
        dist.all_gather_into_tensor(torch.empty(4 * count), torch.ones(count))
    calls = stepwright_torch.report()["calls"]
    return [(row["operation"], row["wrapped_because"], row["calls"]) for row in calls]


class Collectives(unittest.TestCase):
    def test_reduces_every_type_exactly(self):
        on_ranks(check_reductions)

    def test_scales_floats(self):
        on_ranks(check_scaled)

    def test_gathers_and_exchanges_every_type(self):
        on_ranks(check_gathers)

    def test_takes_lists(self):
        on_ranks(check_lists)

    def test_takes_coalesced_calls(self):
        on_ranks(check_coalesced)

    def test_takes_odd_sizes_and_strides(self):
        on_ranks(check_odd_input)

    def test_gives_works_futures_and_profiles(self):
        on_ranks(check_works)

    def test_makes_groups_and_splits_them(self):
        on_ranks(check_groups)

    def test_every_method_gives_one_result_on_all_ranks_and_in_all_runs(self):
        expected = flat_sum()
        for method in METHODS:
            with self.subTest(method):
                first = on_ranks(random_sum, method=method, chunk_bytes=20_000)
                self.assertEqual(first[1:], first[:-1])
                self.assertEqual(on_ranks(random_sum, method=method, chunk_bytes=20_000), first)
                worst = (torch.tensor(first[0]).double() - expected).abs().max().item()
                self.assertLess(worst, 2e-6)

    def test_takes_what_was_chosen_for_a_size(self):
        with tempfile.NamedTemporaryFile("w", suffix=".csv") as file:
            file.write(
                "operation,nodes,ranks_of_node,most_bytes,method\n"
                "all_reduce,2,2,50000,gloo\nall_reduce,2,2,inf,two-level\n"
            )
            file.flush()
            reports = on_ranks(calls_of_two_sizes, choices=file.name)
        self.assertEqual(
            reports[0],
            [("all_gather", "", 2), ("all_reduce", "", 1), ("all_reduce", "chosen", 1)],
        )

    def test_runs_in_chunks_and_segments_within_its_scratch(self):
        reports = on_ranks(large_call, chunk_bytes=10_000, segment_bytes=200_000)
        # Segment and its copy, four blocks of sums of the reduce-scatter, and its messages.
        bound = 2 * 201_000 + 4 * 480_000 + 4 * (2 << 20)
        for report in reports:
            self.assertLess(report["peak_scratch_bytes"], bound)
            self.assertEqual({row["wrapped_because"] for row in report["calls"]}, {""})

    def test_counts_what_it_gives_to_the_wrapped_backend(self):
        for calls in on_ranks(small_calls, min_bytes=1024):
            self.assertEqual(
                sorted(calls),
                [
                    ("all_reduce", "", 1, 1024),
                    ("all_reduce", "reduction", 1, 4000),
                    ("all_reduce", "small", 1, 1020),
                    ("barrier", "operation", 1, 0),
                    ("broadcast", "operation", 1, 4000),
                ],
            )


if __name__ == "__main__":
    unittest.main()

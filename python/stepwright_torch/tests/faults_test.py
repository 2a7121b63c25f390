"""Tests ranks that disagree, die or leave, and many collectives in a row."""

import multiprocessing
import os
import signal
import socket
import time
import unittest

import torch
import torch.distributed as dist
from ranks import RANKS, RankError, on_ranks, outcomes

LONGEST_S = 30
ENDED = multiprocessing.get_context("fork").Semaphore(0)  # of ranks, which are forks of this


def different_operations(rank: int) -> None:
    if rank == 2:
        dist.all_gather_into_tensor(torch.empty(4000), torch.ones(1000))
    else:
        dist.all_reduce(torch.ones(4000))


def different_sizes(rank: int) -> None:
    dist.all_reduce(torch.ones(4000 if rank != 1 else 4001))


def scheduled_and_not(rank: int) -> None:
    if rank == 3:
        dist.broadcast(torch.ones(4000), 3)
        dist.barrier()
    else:
        dist.all_reduce(torch.ones(4000))


def one_is_missing(rank: int) -> str:
    """What a rank complains of while rank 1 stays away, which ends when all others have."""
    if rank == 1:
        alone = [ENDED.acquire(timeout=LONGEST_S) for _ in range(RANKS - 1)]
        return "" if all(alone) else "the others wait for rank 1"
    try:
        dist.all_reduce(torch.ones(4000))
    except dist.DistBackendError as error:
        ENDED.release()
        return str(error)
    return ""


def rank_0_is_stopped(rank: int) -> str:
    """What a rank complains of while rank 0, which serves the store, is stopped."""
    processes = torch.zeros(RANKS, dtype=torch.int64)
    processes[rank] = os.getpid()
    dist.all_reduce(processes)
    dist.barrier()
    if rank == 0:
        time.sleep(0.5)  # the others have what it sent
        os.kill(os.getpid(), signal.SIGSTOP)
    text = ""
    try:
        dist.all_reduce(torch.ones(4000))
    except dist.DistBackendError as error:
        text = str(error)
    if rank > 1:
        ENDED.release()
    if rank == 1:
        for _ in range(RANKS - 2):
            ENDED.acquire(timeout=LONGEST_S)
        os.kill(int(processes[0]), signal.SIGKILL)
    return text


def one_dies(rank: int) -> None:
    for i in range(10_000):
        if rank == 3 and i == 50:
            os._exit(1)
        dist.all_reduce(torch.ones(20_000))


def destroyed_at_work(rank: int) -> str:
    dist.all_reduce(torch.ones(100))
    work = dist.all_reduce(torch.ones(1000), async_op=True) if rank != 1 else None
    dist.distributed_c10d._abort_process_group() if work else dist.destroy_process_group()
    if work is None:
        return ""
    try:
        work.wait()
    except dist.DistBackendError as error:
        return str(error).splitlines()[0]
    return "no error"


def after_a_failure(rank: int) -> list[str]:
    texts = []
    for count in (1000 + rank, 2000):
        try:
            dist.all_reduce(torch.ones(count))
        except dist.DistBackendError as error:
            texts.append(str(error).splitlines()[0])
    return texts


def target(descriptor: str) -> str:
    """What an open descriptor of this process is; empty if it was closed meanwhile."""
    try:
        return os.readlink(f"/proc/self/fd/{descriptor}")
    except FileNotFoundError:
        return ""


def held() -> tuple[int, set[str]]:
    """Resident bytes of this process, and what its open descriptors are."""
    with open("/proc/self/statm", encoding="ascii") as file:
        pages = int(file.read().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE"), set(map(target, os.listdir("/proc/self/fd")))


def many(_rank: int) -> tuple[int, list[str]]:
    tensor = torch.ones(2000)
    out = torch.empty(RANKS * 2000)
    part = torch.empty(500)

    def some(count: int) -> None:
        for _ in range(count):
            dist.all_reduce(tensor, op=dist.ReduceOp.AVG)
            dist.all_gather_into_tensor(out, tensor)
            dist.reduce_scatter_tensor(part, tensor, op=dist.ReduceOp.AVG)
            dist.broadcast(tensor, 0)

    some(250)
    before = held()
    some(2500)
    after = held()
    assert torch.equal(tensor, torch.ones(2000))
    return after[0] - before[0], sorted(after[1] - before[1])


class Faults(unittest.TestCase):
    def texts(self, act, timeout_s: float) -> list[str]:
        """What the ranks complain of."""
        results = outcomes(act, timeout_s=timeout_s)
        return [str(result) if isinstance(result, RankError) else "" for result in results]

    def test_names_ranks_that_call_something_else(self):
        texts = self.texts(different_operations, 20)
        self.assertRegex(
            texts[0],
            r"rank 0 calls all_reduce sum of 4000 Float \(call 1\) in 1 by ho-ring, "
            r"but rank 2 calls all_gather of 4000 Float",
        )
        self.assertIn("rank 2 calls all_gather of 4000", texts[2])
        self.assertTrue(all(texts), texts)

    def test_names_ranks_with_another_size(self):
        texts = self.texts(different_sizes, 20)
        self.assertIn("but rank 1 calls all_reduce sum of 4001 Float", texts[0])
        self.assertTrue(all(texts), texts)

    def test_names_ranks_whose_call_went_to_the_wrapped_backend(self):
        texts = self.texts(scheduled_and_not, 3)
        self.assertIn("all_reduce sum of 4000 Float (call 1) failed on rank 0", texts[0])
        self.assertIn("rank 3 was in broadcast of 4000", texts[0] + texts[1] + texts[2])
        self.assertTrue(all(texts), texts)

    def test_ends_within_the_timeout_when_one_does_not_come(self):
        texts = on_ranks(one_is_missing, timeout_s=3)
        self.assertEqual(texts.pop(1), "")
        for text in texts:
            self.assertIn("all_reduce sum of 4000 Float (call 1) failed", text)
            self.assertRegex(text, r"rank [0-9, ]*1 does not answer")

    def test_ends_within_the_timeout_when_the_stores_server_hangs(self):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        # It ends the ranks that do not, and fails.
        results = outcomes(rank_0_is_stopped, timeout_s=3, init_method=f"tcp://127.0.0.1:{port}")
        self.assertIsNone(results[0])
        for text in results[1:]:
            self.assertIn("all_reduce sum of 4000 Float (call ", text)
            self.assertIn("the group's store does not answer: its server (rank 0", text)

    def test_ends_at_once_when_a_peer_dies(self):
        # Who waited for the timeout would be ended by the time limit of the test.
        results = outcomes(one_dies, timeout_s=10_000)
        self.assertIsNone(results[3])
        for result in results[:3]:
            self.assertIsInstance(result, RankError)
            self.assertIn("stepwright: all_reduce sum of 20000 Float", str(result))

    def test_is_destroyed_with_work_under_way(self):
        for rank, text in enumerate(on_ranks(destroyed_at_work, timeout_s=20)):
            self.assertEqual(text, "" if rank == 1 else text)
            if rank != 1:
                self.assertIn("stepwright: all_reduce", text)

    def test_refuses_what_comes_after_a_failure(self):
        for first, second in on_ranks(after_a_failure, timeout_s=20):
            self.assertIn("failed", first)
            self.assertIn("an earlier collective of this group has failed", second)

    def test_holds_no_more_after_ten_thousand_collectives(self):
        for memory, opened in on_ranks(many, timeout_s=120):
            self.assertEqual(opened, [])
            self.assertLess(memory, 4 << 20)


if __name__ == "__main__":
    unittest.main()

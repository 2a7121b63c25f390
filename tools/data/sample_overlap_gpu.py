"""Times computations beside messages on one GPU; the rows are those of `stepwright sample overlap`.

    python3 -B tools/data/sample_overlap_gpu.py OUT.csv

A GPU alone has nobody to send to. What a message takes from computation beside it is imitated: some
thread blocks that keep their multiprocessors, as the channels of NCCL do, copy a buffer in the
GPU's memory (all-gather) or add one to another (reduce-scatter). Computations are those of a
llama-3-70b layer on tensor ranks; they last twice as long as the messages.
Rows of a run that ends early stay beside, in OUT.csv.part-*.
"""

import sys
from collections.abc import Callable
from pathlib import Path

import cupy
import torch
import torch.nn.functional as F  # noqa: N812

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from files import replaced

BLOCKS = [4, 8, 16, 24, 32]
BYTES = 1 << 26
THREADS = 512
SHARED = 100 << 10  # so that no large product shares the multiprocessor
REPEATS = 7
CODE = r"""
#define EACH \
  for (long i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
extern "C" __global__ void copy(const float4* a, float4* b, long n) {
  EACH b[i] = a[i];
}
extern "C" __global__ void add(const float4* a, float4* b, long n) {
  EACH {
    float4 x = a[i], y = b[i];
    b[i] = make_float4(x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w);
  }
}
"""


def normal(*sizes: int) -> torch.Tensor:
    return torch.randn(*sizes, device="cuda", dtype=torch.bfloat16)


def computations() -> dict[str, Callable[[], object]]:
    found = {}
    for rows, inner, columns in [
        (8192, 8192, 1280),
        (8192, 1024, 8192),
        (8192, 8192, 7168),
        (8192, 3584, 8192),
        (4096, 4096, 4096),
    ]:
        a, b = normal(rows, inner), normal(inner, columns)
        found[f"linear {rows}x{inner}x{columns}"] = lambda a=a, b=b: a @ b
    q, k, v = normal(1, 8, 8192, 128), normal(1, 8, 8192, 128), normal(1, 8, 8192, 128)
    found["attention 8x8192x128"] = lambda: F.scaled_dot_product_attention(q, k, v, is_causal=True)
    x, y = normal(8192, 8192), normal(8192, 8192)
    found["add 8192x8192"] = lambda: torch.add(x, y, out=x)
    return found


class Pairs:
    def __init__(self) -> None:
        module = cupy.RawModule(code=CODE)
        self.kernels = {"all_gather": module.get_function("copy")}
        self.kernels["reduce_scatter"] = module.get_function("add")
        for kernel in self.kernels.values():
            kernel.max_dynamic_shared_size_bytes = SHARED
        self.a = torch.zeros(BYTES, dtype=torch.uint8, device="cuda")
        self.b = torch.zeros_like(self.a)
        self.beside = torch.cuda.Stream(priority=-1)

    def send(self, operation: str, blocks: int, times: int) -> None:
        with cupy.cuda.Stream.from_external(torch.cuda.current_stream()):
            for _ in range(times):
                self.kernels[operation](
                    (blocks,),
                    (THREADS,),
                    (self.a.data_ptr(), self.b.data_ptr(), BYTES // 16),
                    shared_mem=SHARED,
                )

    def seconds(self, compute: Callable[[], object], send: Callable[[], object]) -> float:
        """The median of both at once; either may do nothing."""
        found = []
        for _ in range(REPEATS):
            torch.cuda.synchronize()
            torch.cuda._sleep(2_000_000)  # the host queues all of it meanwhile
            begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            begin.record()
            self.beside.wait_event(begin)
            with torch.cuda.stream(self.beside):
                send()
            compute()
            torch.cuda.current_stream().wait_stream(self.beside)
            end.record()
            end.synchronize()
            found.append(begin.elapsed_time(end) / 1e3)
        return sorted(found)[len(found) // 2]

    def row(self, operation: str, blocks: int, name: str, compute: Callable[[], object]) -> str:
        messages = 2
        alone_s = self.seconds(lambda: None, lambda: self.send(operation, blocks, messages))
        once_s = self.seconds(lambda: [compute() for _ in range(4)], lambda: None) / 4
        times = max(1, round(2 * alone_s / once_s))

        def work() -> None:
            for _ in range(times):
                compute()

        own_s = self.seconds(work, lambda: None)
        both_s = self.seconds(work, lambda: self.send(operation, blocks, messages))
        label = f"{operation} by {blocks} blocks"
        return f"inside,{label},{name},{BYTES},{own_s:.6g},{alone_s:.6g},{both_s:.6g}"


def main(path: str) -> None:
    pairs = Pairs()
    with replaced(path, keep_part=True) as out:
        out.write("link,operation,computation,payload_bytes,")
        out.write("seconds_computation,seconds_message,seconds_together\n")
        for name, compute in computations().items():
            for operation in pairs.kernels:
                for blocks in BLOCKS:
                    out.write(pairs.row(operation, blocks, name, compute) + "\n")
    print(torch.cuda.get_device_name(), torch.__version__)


if __name__ == "__main__":
    main(sys.argv[1])

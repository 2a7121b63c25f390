"""Times work on one GPU for tools/sample_*.py: rotating operands, CUDA graphs, events, clocks."""

import gc
import itertools
import statistics
import threading
import time
from collections.abc import Callable

import torch

try:
    import pynvml
except ImportError:
    pynvml = None

HAS_GPU = torch.cuda.is_available()
DEVICE = "cuda" if HAS_GPU else "cpu"
L2_BYTES = 50e6
ALIGNMENT = 1024


def gpu_name() -> str:
    """The device as the tables of data/ write it."""
    name = torch.cuda.get_device_name() if HAS_GPU else "cpu"
    return "H100-SXM-80GB" if "H100 80GB HBM3" in name else name.replace(" ", "-")


def software() -> str:
    """Versions of what was measured."""
    parts = [f"PyTorch {torch.__version__}"]
    if HAS_GPU:
        parts += [f"CUDA {torch.version.cuda}", f"cuDNN {torch.backends.cudnn.version()}"]
    return " ".join(parts)


class Nvml:
    """Power, clock and energy of the first GPU; zeros without NVML."""

    def __init__(self) -> None:
        self.handle = None
        if pynvml is not None and HAS_GPU:
            pynvml.nvmlInit()
            self.handle = pynvml.nvmlDeviceGetHandleByIndex(0)

    def clock_mhz(self) -> int:
        if self.handle is None:
            return 0
        return pynvml.nvmlDeviceGetClockInfo(self.handle, pynvml.NVML_CLOCK_SM)

    def memory_clock_mhz(self) -> int:
        if self.handle is None:
            return 0
        return pynvml.nvmlDeviceGetClockInfo(self.handle, pynvml.NVML_CLOCK_MEM)

    def power_w(self) -> float:
        return pynvml.nvmlDeviceGetPowerUsage(self.handle) / 1e3 if self.handle else 0.0

    def limit_w(self) -> float:
        return pynvml.nvmlDeviceGetEnforcedPowerLimit(self.handle) / 1e3 if self.handle else 0.0

    def energy_j(self) -> float:
        if self.handle is None:
            return 0.0
        return pynvml.nvmlDeviceGetTotalEnergyConsumption(self.handle) / 1e3

    def temperature_c(self) -> int:
        return pynvml.nvmlDeviceGetTemperature(self.handle, 0) if self.handle else 0

    def throttle_reasons(self) -> int:
        """Bits of nvmlClocksThrottleReasons: 0x4 the power cap, 0x20, 0x40 heat."""
        if self.handle is None:
            return 0
        return pynvml.nvmlDeviceGetCurrentClocksThrottleReasons(self.handle)

    def used_bytes(self) -> int:
        return pynvml.nvmlDeviceGetMemoryInfo(self.handle).used if self.handle else 0


class Sampler(threading.Thread):
    """Reads power and clock every few milliseconds until stopped."""

    def __init__(self, nvml: Nvml, period_s: float = 0.02) -> None:
        super().__init__(daemon=True)
        self.nvml, self.period_s = nvml, period_s
        self.rows: list[tuple[float, float, int, int, float]] = []
        self.ended = threading.Event()

    def run(self) -> None:
        while not self.ended.is_set():
            now = time.perf_counter()
            row = (self.nvml.power_w(), self.nvml.clock_mhz(), self.nvml.throttle_reasons())
            self.rows.append((now, *row, self.nvml.energy_j()))
            self.ended.wait(self.period_s)

    def stop(self) -> None:
        self.ended.set()
        self.join()


class Pool:
    """Random values that operands are views of, one after the other: none is in the cache."""

    def __init__(self, gib: float) -> None:
        count = int(gib * 2**30) // 2048 * 1024
        self.values = torch.empty(count, dtype=torch.bfloat16, device=DEVICE)
        for part in self.values.split(2**28):
            part.normal_()
        self.narrow: torch.Tensor | None = None
        self.next = 0

    def take(self, *shape: int, dtype: torch.dtype = torch.bfloat16) -> torch.Tensor:
        """A view; fp32 values have a bf16 value as their upper half, fp8 values have their own."""
        count = 1
        for size in shape:
            count *= size
        if dtype == torch.float8_e4m3fn:
            if self.narrow is None:
                self.narrow = self.values[: len(self.values) // 4].to(dtype)
            source, width = self.narrow, 1
        else:
            source, width = self.values.view(dtype), dtype.itemsize
        if count > len(source):
            raise MemoryError(f"{count} values of {width} bytes")
        start = self.next // width
        if start + count > len(source):
            start = self.next = 0
        self.next = -(-(start + count) * width // ALIGNMENT) * ALIGNMENT
        return source[start : start + count].view(shape)


class Timing:
    """Seconds of one call: the median, and the tenths at both ends."""

    def __init__(self, seconds: list[float], how: str, clock_mhz: int) -> None:
        ordered = sorted(seconds)
        self.median = statistics.median(ordered)
        self.low = ordered[len(ordered) // 10]
        self.high = ordered[(9 * len(ordered)) // 10]
        self.count, self.how, self.clock_mhz = len(ordered), how, clock_mhz

    @property
    def spread(self) -> float:
        return (self.high - self.low) / self.median

    def text(self) -> str:
        return (
            f"spread={self.spread:.4f};repeats={self.count};timed={self.how};"
            f"sm_mhz={self.clock_mhz}"
        )


class Stopwatch:
    """Times a list of equal calls on different operands, captured as one CUDA graph."""

    def __init__(self, nvml: Nvml, target_s: float = 0.008) -> None:
        self.nvml, self.target_s = nvml, target_s
        self.failures = 0
        if not HAS_GPU:
            return
        self.stream = torch.cuda.Stream()
        torch.cuda.set_stream(self.stream)  # of everything: operands are made where they are used
        self.fresh()

    def fresh(self) -> None:
        """Gives back what graphs have held; a graph of its own keeps their memory between them."""
        if not HAS_GPU:
            return
        self.keeper = self.kept = None
        gc.collect()
        torch.cuda.synchronize()
        torch.cuda.empty_cache()
        self.memory = torch.cuda.graph_pool_handle()
        self.keeper = torch.cuda.CUDAGraph()
        spot = torch.zeros(8, device=DEVICE)
        with torch.cuda.graph(self.keeper, pool=self.memory, stream=self.stream):
            self.kept = spot + 1

    def time(self, calls: list[Callable[[], object]]) -> tuple[Timing, list[object]]:
        """Also what the calls returned in the last run."""
        if not HAS_GPU:
            return self.on_host(calls)
        calls[0]()
        torch.cuda.synchronize()
        try:
            return self.as_graph(calls)
        except RuntimeError as error:
            if "out of memory" in str(error) or "illegal" in str(error):
                raise
            self.failures += 1
            self.fresh()
            return self.issued(calls)

    def as_graph(self, calls: list[Callable[[], object]]) -> tuple[Timing, list[object]]:
        graph = torch.cuda.CUDAGraph()
        graph.capture_begin(pool=self.memory)  # torch.cuda.graph() would collect garbage each time
        try:
            results = [call() for call in calls]
        finally:
            graph.capture_end()
        return self.repeat(graph.replay, len(calls), "graph"), results

    def issued(self, calls: list[Callable[[], object]]) -> tuple[Timing, list[object]]:
        results: list[object] = []

        def run() -> None:
            results[:] = [call() for call in calls]

        return self.repeat(run, len(calls), "issued"), results

    def repeat(self, run: Callable[[], None], calls: int, how: str) -> Timing:
        first, last = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        run()
        first.record()
        run()
        last.record()
        last.synchronize()
        once = first.elapsed_time(last) * 1e-3
        repeats = int(min(30, max(4, self.target_s / max(once, 1e-6))))
        marks = [torch.cuda.Event(enable_timing=True) for _ in range(repeats + 1)]
        marks[0].record()
        for mark in marks[1:]:
            run()
            mark.record()
        clock = self.nvml.clock_mhz()
        marks[-1].synchronize()
        pairs = itertools.pairwise(marks)
        return Timing([a.elapsed_time(b) * 1e-3 / calls for a, b in pairs], how, clock)

    def on_host(self, calls: list[Callable[[], object]]) -> tuple[Timing, list[object]]:
        seconds, results = [], []
        for _ in range(2):
            start = time.perf_counter()
            results = [call() for call in calls]
            seconds.append((time.perf_counter() - start) / len(calls))
        return Timing(seconds, "host", 0), results


def instances(flops: float, moved_bytes: float, kept_bytes: float = 0) -> int:
    """How many equal calls a graph has: enough to leave the cache and to last a millisecond."""
    if not HAS_GPU:
        return 1
    about_s = max(flops / 600e12, moved_bytes / 2.5e12, 2e-6)
    wanted = max(3 * L2_BYTES / moved_bytes, 1e-3 / about_s)
    return int(max(1, min(wanted + 1, 64, 8e9 / max(kept_bytes, 1))))

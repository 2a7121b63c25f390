"""Counts one training step of a real program on fake tensors, by kind of tensor.

Tensors are fake (FakeTensorMode: sizes and lifetimes without contents), collectives send nothing
(PyTorch's "fake" process group), and torch.distributed._tools.mem_tracker.MemTracker counts what is
allocated. Autograd does two things otherwise with fake tensors, as with all subclasses of tensors,
than on a device; both are undone here (`PeakTracker`):

- two gradients of one tensor become a third instead of a sum in place where nothing else holds the
  first or the second (torch/csrc/autograd/input_buffer.cpp, can_accumulate_inplace);
- the gradient of an index is written into a copy of the zeros that are made for it
  (torch/csrc/autograd/FunctionsManual.cpp, index_backward).

DTensor finds out the shapes of results with fake tensors of whole shapes; in a mode of their own
MemTracker passes over them (`fake_tensors`).

Where a CPU's kernel keeps something else than that of a device, the device's is counted: norms of
torch.nn are one kernel there, which keeps its input and a number for each row
(aten/src/ATen/native/cuda/layer_norm_kernel.cu, _fused_rms_norm_cuda), and single operators on a
CPU (`FusedNorm`).
"""

from __future__ import annotations

import weakref
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import copy
from functools import wraps
from unittest import mock

import torch
import torch.distributed as dist
from torch._subclasses.fake_tensor import FakeTensorMode, unset_fake_temporarily
from torch.distributed._tools import mod_tracker
from torch.distributed._tools.mem_tracker import MemTracker, _MemRefType
from torch.distributed.device_mesh import DeviceMesh
from torch.distributed.tensor import DTensor, _sharding_prop
from torch.distributed.tensor.debug._comm_mode import NATIVE_TO_PY_MAPPING, c10d_collective_ops
from torch.distributed.tensor.placement_types import _StridedShard
from torch.testing._internal.distributed.fake_pg import FakeStore
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

aten = torch.ops.aten
GIB = 2**30
DEVICE = torch.device("cpu")
# Products on a Hopper GPU take a workspace of 32 MiB for each handle of cuBLAS, that of the
# forward's thread and that of autograd's (aten/src/ATen/cuda/CublasHandlePool.cpp).
WORKSPACES = 2 * 8 * 4096 * 1024
USES_OF_OWN = 2  # the tensor and its storage in Python
KINDS = {
    "Parameter": "parameters_gib",
    "Gradient": "gradients_gib",
    "Activation": "activations_gib",
    "Optstate": "optimizer_gib",
    "Temp": "temporary_gib",
}


def is_sum(*args: object) -> bool:
    """True if two dense tensors of one kind are added."""
    if len(args) != 2 or not all(isinstance(each, torch.Tensor) for each in args):
        return False
    first, second = args
    return first.shape == second.shape and first.dtype == second.dtype and first.numel() > 1


def is_held(tensor: torch.Tensor) -> bool:
    """True if another tensor has the storage of this one."""
    storage = tensor.untyped_storage()
    return torch._C._storage_Use_Count(storage._cdata) > USES_OF_OWN


class FusedNorm(torch.autograd.Function):
    """The tensors of CUDA's kernel of RMSNorm."""

    @staticmethod
    def forward(ctx, rows, weight):
        ctx.save_for_backward(rows, weight, torch.empty_like(rows[..., :1], dtype=torch.float32))
        return torch.empty_like(rows)

    @staticmethod
    def backward(ctx, gradient):
        rows, weight, _ = ctx.saved_tensors
        return torch.empty_like(rows), torch.empty_like(weight)


single_operators = torch.nn.functional.rms_norm


def rms_norm(input, normalized_shape, weight=None, eps=None) -> torch.Tensor:
    """CUDA's kernel of rows and a weight of one type; of others its single operators."""
    if weight is None or weight.dtype != input.dtype:
        return single_operators(input, normalized_shape, weight, eps)
    return FusedNorm.apply(input, weight)


# MemTracker follows modules with hooks that hold the gradients of all their inputs until the last
# has come (torch.autograd.graph, register_multi_grad_hook): of a loss that takes logits in chunks,
# those of chunks that are done. Nothing here asks which module a backward is in.
mod_tracker.register_multi_grad_hook = lambda tensors, hook, *, mode="all": None


class PeakTracker(MemTracker):
    """MemTracker that keeps the largest moment of a device and none of each module. It counts
    modules that run several times, and models of which parts are frozen."""

    def __init__(self) -> None:
        super().__init__()
        self._seen = weakref.WeakSet()

    def _pre_fw_hook(self, module, inputs) -> None:
        if module not in self._seen:
            self._seen.add(module)
            self._track_module_params_and_buffers(module)
        if self._mod_tracker.is_bw and self._ac_mod is None:
            self._ac_mod = weakref.ref(module)
            self._in_ac = True

    def _post_fw_hook(self, module, inputs, outputs) -> None:
        if self._ac_mod is not None and self._ac_mod() is module:
            self._ac_mod = None
            self._in_ac = False

    def _pre_bw_hook(self, module, args) -> None:
        pass

    def _post_bw_hook(self, module, args) -> None:
        pass

    def _track_module_params_and_buffers(self, module, install_grad_hooks=True):
        """MemTracker's, which hooks gradients of frozen parameters as well."""
        trained = install_grad_hooks and all(each.requires_grad for each in module.parameters())
        sizes = super()._track_module_params_and_buffers(module, trained)
        if install_grad_hooks and not trained:
            for parameter in module.parameters():
                if parameter.requires_grad and parameter not in self._param_to_grad_hook_handles:
                    self._hook_gradient(parameter)
        return sizes

    def _hook_gradient(self, parameter: torch.nn.Parameter) -> None:
        def track(gradient: torch.Tensor) -> None:
            self._update_and_maybe_create_winfos(gradient, _MemRefType.GRAD)

        self._param_to_grad_hook_handles[parameter] = (
            parameter.register_hook(track),
            parameter.register_post_accumulate_grad_hook(lambda each: track(each.grad)),
        )

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        if self._mod_tracker.is_bw and not self._in_ac and DTensor not in types:
            if func is aten.index_put.default:
                func = aten.index_put_.default
            elif func is aten.add.Tensor and not kwargs and is_sum(*args):
                held = [is_held(each) for each in args]
                if not all(held):
                    func = aten.add_.Tensor
                    args = args if held[1] else args[::-1]
        return super().__torch_dispatch__(func, types, args, kwargs)

    def _update_peak_stats(self, peak_state) -> None:
        for device, kinds in self._curr_mem_snap.items():
            if kinds["Total"] > self._peak_mem.get(device, 0):
                self._peak_mem[device] = kinds["Total"]
                self._peak_mem_snap[device] = copy(kinds)


@contextmanager
def fake_ranks(ranks: int) -> Iterator[None]:
    """Makes this process rank 0 of `ranks` whose messages go nowhere."""
    dist.init_process_group("fake", rank=0, world_size=ranks, store=FakeStore())
    try:
        yield
    finally:
        dist.destroy_process_group()


def with_contents(function: Callable) -> Callable:
    """The function, with tensors that have contents."""

    @wraps(function)
    def called(*args, **words):
        with unset_fake_temporarily():
            return function(*args, **words)

    return called


@contextmanager
def fake_tensors() -> Iterator[None]:
    """Tensors that are made inside have sizes and lifetimes and no contents, except those that
    DTensor reads: ranks of meshes of devices and places of split shards."""
    split = "local_shard_size_and_offset"
    with (
        FakeTensorMode(allow_non_fake_inputs=True),
        mock.patch.object(DeviceMesh, "__init__", with_contents(DeviceMesh.__init__)),
        mock.patch.object(_StridedShard, split, with_contents(getattr(_StridedShard, split))),
        mock.patch.object(torch.nn.functional, "rms_norm", rms_norm),
        mock.patch.object(_sharding_prop, "detect_fake_mode", lambda: None),
    ):
        yield


def make_states(optimizer: torch.optim.Optimizer) -> None:
    """Gives an optimizer the states that it has after its first step."""
    for group in optimizer.param_groups:
        for parameter in group["params"]:
            parameter.grad = torch.zeros_like(parameter)
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)


# The operators of collectives, by the words of tables.
COLLECTIVES = {
    "all_gather": ("all_gather_into_tensor", "_allgather_base_", "allgather_"),
    "reduce_scatter": ("reduce_scatter_tensor", "_reduce_scatter_base_", "reduce_scatter_"),
    "all_reduce": ("all_reduce", "allreduce_", "allreduce_coalesced_"),
    "all_to_all": ("all_to_all_single", "alltoall_", "alltoall_base_"),
}


class MessageTracker(TorchDispatchMode):
    """Counts the collectives that CommDebugMode knows, and sums the bytes of whole buffers: of each
    message the larger of its inputs and its outputs. CommDebugMode itself follows modules, and
    fails where they are recomputed."""

    def __init__(self) -> None:
        super().__init__()
        self.counts: dict[str, int] = defaultdict(int)
        self.sizes: dict[str, int] = defaultdict(int)

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        if DTensor in types:
            return NotImplemented
        result = func(*args, **kwargs or {})
        packet = getattr(func, "_overloadpacket", None)
        if packet in c10d_collective_ops or packet in NATIVE_TO_PY_MAPPING:
            tensors = [
                each
                for each in tree_leaves((args, kwargs, result))
                if isinstance(each, torch.Tensor)
            ]
            self.counts[packet.__name__] += 1
            size = max(each.numel() * each.element_size() for each in tensors)
            self.sizes[packet.__name__] += size
        return result


def count_messages(step: Callable[[], None], *states: object) -> dict[str, float]:
    """Returns the messages of a step by the words of `COLLECTIVES`, and GiB of their buffers."""
    tracker = MessageTracker()
    with tracker:
        step()
    known = {name for names in COLLECTIVES.values() for name in names}
    other = set(tracker.counts) - known
    assert not other, f"collectives without a word: {other}"
    found: dict[str, float] = {}
    for word, names in COLLECTIVES.items():
        found[word] = sum(tracker.counts.get(name, 0) for name in names)
        found[f"{word}_gib"] = sum(tracker.sizes.get(name, 0) for name in names) / GIB
    return found


def count_step(step: Callable[[], None], *states: object) -> dict[str, float]:
    """Returns GiB at the largest moment of a step, by kind, and after it. `states` are the modules,
    optimizers and tensors that were there before it."""
    tracker = PeakTracker()
    tracker.track_external(*states)
    with tracker:
        step()
    peak = tracker.get_tracker_snapshot("peak")[DEVICE]
    after = tracker.get_tracker_snapshot("current")[DEVICE]
    found = {column: 0.0 for column in KINDS.values()}
    for key, size in peak.items():
        column = KINDS.get(getattr(key, "value", key))
        if column is not None:
            found[column] = size / GIB
    found["temporary_gib"] += WORKSPACES / GIB
    return found | {
        "memory_value_gib": (peak["Total"] + WORKSPACES) / GIB,
        "after_step_gib": (after["Total"] + WORKSPACES) / GIB,
    }

#pragma once

#include <ATen/ATen.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <torch/csrc/distributed/c10d/Store.hpp>

namespace stepwright::runtime {

/// Arguments for creating one process group on a rank.
struct ProcessGroupArguments {
  /// Store that only this group uses, through which its ranks connect.
  c10::intrusive_ptr<c10d::Store> store;
  int rank = 0;
  int size = 1;
  std::chrono::milliseconds timeout{};
};

/// A point in a device queue, such as a CUDA event; null: nothing to wait for.
using DeviceMark = std::shared_ptr<void>;

/// The device (CPU or GPU) that holds a rank's tensors and runs its operators. Builds without CUDA
/// compile `rank_device_no_cuda.cpp` in place of `rank_device_cuda.cpp`.
class RankDevice {
 public:
  virtual ~RankDevice() = default;

  /// Returns the PyTorch device on which new tensors are made.
  [[nodiscard]] virtual at::Device torch_device() const = 0;
  /// True if a call only starts an operator on the device (GPU), so that the host runs ahead;
  /// false: the operator is done when its call returns (CPU).
  [[nodiscard]] virtual bool starts_operators_asynchronously() const = 0;
  /// Gives the calling thread a device queue (CUDA stream) of its own, for the work that it issues
  /// from now on.
  virtual void create_device_queue_for_thread() = 0;
  /// Returns a mark in the calling thread's device queue (a CUDA event): it is reached when all
  /// work that the thread has issued so far is done.
  [[nodiscard]] virtual DeviceMark record_device_event() = 0;
  /// Makes work that the calling thread issues from now on wait, on the device, until a mark in
  /// another queue is reached.
  virtual void wait_for_device_event(const DeviceMark& mark) = 0;
  /// Tells the device that the calling thread's queue uses a tensor that another queue may have
  /// allocated, so that its memory is not reused too early.
  virtual void keep_tensor_for_current_queue(const at::Tensor& tensor) = 0;
  /// Blocks the host until all work on the device is done.
  virtual void finish() = 0;
  /// Creates a process group for tensors on this device: Gloo for the CPU, NCCL for CUDA.
  [[nodiscard]] virtual c10::intrusive_ptr<c10d::Backend> create_process_group_backend(
      const ProcessGroupArguments& place) = 0;
};

/// Returns the CPU as a rank's device.
std::unique_ptr<RankDevice> cpu_device();

/// Returns the CUDA device for a rank, chosen by the rank's index on its machine; null if there is
/// none. Fails with `kUnsupported` in a build without CUDA.
std::unique_ptr<RankDevice> cuda_device(std::int64_t rank_on_this_machine);
/// True if this build supports CUDA and this machine has a CUDA device.
bool has_cuda_device();

}  // namespace stepwright::runtime

#pragma once

#include <ATen/ATen.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <torch/csrc/distributed/c10d/Store.hpp>

namespace stepwright::runtime {

/// The place of a rank in one process group.
struct GroupPlace {
  /// Store of this group only, through which its ranks connect.
  c10::intrusive_ptr<c10d::Store> store;
  int rank = 0;
  int size = 1;
  std::chrono::milliseconds timeout{};
};

/// A moment on a device queue; null: nothing to wait for.
using DeviceMark = std::shared_ptr<void>;

/// The device that holds a rank's tensors and runs its operators. Where PyTorch has no CUDA,
/// `rank_device_no_cuda.cpp` is built in place of `rank_device_cuda.cpp`.
class RankDevice {
 public:
  virtual ~RankDevice() = default;

  /// Returns the PyTorch device on which new tensors are made.
  [[nodiscard]] virtual at::Device place() const = 0;
  /// True if operators are only started when they are issued, so that the host runs ahead.
  [[nodiscard]] virtual bool runs_behind() const = 0;
  /// From now on, work that the calling thread issues goes to its own queue.
  virtual void enter_queue() = 0;
  /// Returns the moment after all work that the calling thread has issued so far.
  [[nodiscard]] virtual DeviceMark mark() = 0;
  /// From now on, work that the calling thread issues comes after a mark.
  virtual void wait(const DeviceMark& mark) = 0;
  /// Tells the device that the calling thread's queue uses a tensor that another queue may have
  /// made.
  virtual void use(const at::Tensor& tensor) = 0;
  /// Waits, on the host, until all queues are done.
  virtual void finish() = 0;
  /// Returns PyTorch's process group for tensors on such devices.
  [[nodiscard]] virtual c10::intrusive_ptr<c10d::Backend> backend(const GroupPlace& place) = 0;
};

/// Returns the CPU device: an operator is done when its kernel returns.
std::unique_ptr<RankDevice> cpu_device();

/// Returns the CUDA device of a rank, by the rank's number on its machine; null when there is none.
/// Fails with `kUnsupported` in a build without CUDA.
std::unique_ptr<RankDevice> cuda_device(std::int64_t local_rank);
/// True if this build supports CUDA and this machine has a CUDA device.
bool has_cuda_device();

}  // namespace stepwright::runtime

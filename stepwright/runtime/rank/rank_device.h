#pragma once

#include <ATen/ATen.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <torch/csrc/distributed/c10d/Store.hpp>

namespace stepwright::runtime {

/// The facts of its place that one process group of a rank needs.
struct GroupPlace {
  c10::intrusive_ptr<c10d::Store> store;  ///< Store of this group alone.
  int rank = 0;
  int size = 1;
  std::chrono::milliseconds timeout{};
};

/// A moment on a queue of the device; null: nothing to wait for.
using DeviceMark = std::shared_ptr<void>;

/// The device that holds a rank's tensors and runs its operators. Where PyTorch has no CUDA,
/// `rank_device_no_cuda.cpp` is built in place of `rank_device_cuda.cpp`.
class RankDevice {
 public:
  virtual ~RankDevice() = default;

  /// The place at which new tensors are made.
  [[nodiscard]] virtual at::Device place() const = 0;
  /// Whether operators only start when they are issued, so that the host runs ahead.
  [[nodiscard]] virtual bool runs_behind() const = 0;
  /// Makes what the calling thread issues from now on go to its own queue.
  virtual void enter_queue() = 0;
  /// After what the calling thread has issued so far.
  [[nodiscard]] virtual DeviceMark mark() = 0;
  /// Makes what the calling thread issues from now on come after a mark.
  virtual void wait(const DeviceMark& mark) = 0;
  /// The calling thread's queue uses a tensor that another one may have made.
  virtual void use(const at::Tensor& tensor) = 0;
  /// Waits, on the host, for everything.
  virtual void finish() = 0;
  /// PyTorch's process group between tensors on such devices.
  [[nodiscard]] virtual c10::intrusive_ptr<c10d::Backend> backend(const GroupPlace& place) = 0;
};

/// The CPU: an operator has run when its kernel returns.
std::unique_ptr<RankDevice> cpu_device();

/// The CUDA device of a rank, by its number on its machine; null when there is none. Fails with
/// `kUnsupported` in a build without CUDA.
std::unique_ptr<RankDevice> cuda_device(std::int64_t local_rank);
/// Whether this build and this machine have one.
bool has_cuda_device();

}  // namespace stepwright::runtime

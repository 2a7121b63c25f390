#pragma once

#include <ATen/ATen.h>

#include <map>
#include <mutex>

#include "stepwright/memory/lifetimes.h"

namespace stepwright::runtime {

/// Bytes of the tensors that a rank's operators keep alive at one moment.
struct LiveTensorBytes {
  /// Bytes of each kind of tensor. Each tensor of the step program counts in full, even if it
  /// shares a buffer.
  memory::KindBytes kinds{};
  /// Bytes of the buffers behind the tensors, each buffer counted once: less than the tensors if a
  /// result shares its operand's buffer, more if a tensor is a part of a buffer.
  double buffers = 0;
};

/// Counts the bytes of operators' results, by kind, from creation to last use, and their peak. Safe
/// to use from several threads.
class LiveTensorCounter {
 public:
  /// Counts a tensor from now on, until `remove` is called for it.
  void add(const at::Tensor& value, step::TensorPurpose kind);
  void remove(const at::Tensor& value, step::TensorPurpose kind);
  /// Sets the peak to the bytes held now, if these are more than the peak so far.
  void raise_peak_to_held_bytes();
  /// Resets the peak to the bytes held now, at the start of a step.
  void begin_step();
  /// Returns the bytes held at the memory peak since the start of the step.
  [[nodiscard]] LiveTensorBytes live_bytes_at_peak() const;

 private:
  mutable std::mutex mutex_;
  LiveTensorBytes now_;
  LiveTensorBytes peak_;
  /// For each buffer, the number of counted tensors that use it.
  std::map<const void*, int> holders_;
};

/// Bytes that PyTorch has allocated on the CPU since `start_counting_cpu_allocations` was called:
/// now, and at the peak since `reset_cpu_allocation_peak`.
struct CpuAllocatedBytes {
  std::int64_t now = 0;
  std::int64_t peak = 0;
};
/// Starts to count bytes that PyTorch allocates on the CPU. Called once in a process, before its
/// first tensor.
void start_counting_cpu_allocations();
/// Returns the bytes that PyTorch has allocated on the CPU, now and at the peak; 0 before
/// `start_counting_cpu_allocations`.
CpuAllocatedBytes allocated_bytes();
/// Sets the peak of bytes allocated on the CPU to the bytes allocated now.
void reset_cpu_allocation_peak();

}  // namespace stepwright::runtime

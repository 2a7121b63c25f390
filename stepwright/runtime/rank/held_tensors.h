#pragma once

#include <ATen/ATen.h>

#include <map>
#include <mutex>

#include "stepwright/memory/lifetimes.h"

namespace stepwright::runtime {

/// Bytes of the tensors that the executor holds at one moment.
struct HeldBytes {
  memory::KindBytes kinds{};  ///< Bytes by kind, each tensor of the program in full.
  /// Bytes of the buffers behind these tensors, each counted once: less where a result shares its
  /// operand's buffer, more where a tensor is a part of a buffer.
  double buffers = 0;
};

/// Counts the results of operators, by kind, from their creation to their last use. Safe to use
/// from the threads of all streams.
class HeldTensors {
 public:
  /// `add`: a result is held from now on; `remove`: it no longer is.
  void add(const at::Tensor& value, step::TensorKind kind);
  void remove(const at::Tensor& value, step::TensorKind kind);
  /// Raises the peak to the bytes held now, if these are more.
  void note_peak();
  /// Resets the peak at the start of a step.
  void begin_step();
  /// Returns the bytes held at the peak since `begin_step`.
  [[nodiscard]] HeldBytes at_peak() const;

 private:
  mutable std::mutex mutex_;
  HeldBytes now_;
  HeldBytes peak_;
  std::map<const void*, int> holders_;  ///< Number of held tensors by buffer.
};

/// Bytes that PyTorch has allocated on the CPU since `count_allocations`: now, and at the peak
/// since `reset_allocated_peak`.
struct AllocatedBytes {
  std::int64_t now = 0;
  std::int64_t peak = 0;
};
/// Starts to count; called once in a process, before its first tensor.
void count_allocations();
/// Returns the bytes allocated now and their peak; 0 before `count_allocations`.
AllocatedBytes allocated_bytes();
/// Sets the peak to the bytes allocated now.
void reset_allocated_peak();

}  // namespace stepwright::runtime

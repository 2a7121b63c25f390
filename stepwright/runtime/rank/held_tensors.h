#pragma once

#include <ATen/ATen.h>

#include <map>
#include <mutex>

#include "stepwright/memory/lifetimes.h"

namespace stepwright::runtime {

/// Bytes of the tensors that the executor holds at one moment.
struct HeldBytes {
  memory::KindBytes kinds{};  ///< Bytes by kind, each tensor of the program in full.
  double buffers = 0;  ///< The buffers behind them, each once: less where a result is its operand,
                       ///< more where it is a part of one.
};

/// Counts the results of operators from their making to their last use, by kind. Safe to use from
/// the threads of all streams.
class HeldTensors {
 public:
  /// A result is held from here on, and no longer.
  void add(const at::Tensor& value, step::TensorKind kind);
  void remove(const at::Tensor& value, step::TensorKind kind);
  /// Compares what is held now with the largest moment.
  void note_peak();
  /// Forgets the largest moment.
  void begin_step();
  /// The largest moment since `begin_step`.
  [[nodiscard]] HeldBytes at_peak() const;

 private:
  mutable std::mutex mutex_;
  HeldBytes now_;
  HeldBytes peak_;
  std::map<const void*, int> holders_;  ///< Holders of each buffer.
};

/// Bytes that PyTorch has allocated on the CPU since the process started to count: now, and at the
/// largest moment since `reset_allocated_peak`.
struct AllocatedBytes {
  std::int64_t now = 0;
  std::int64_t peak = 0;
};
/// Counts from here on; once in a process, before its first tensor.
void count_allocations();
/// Bytes now allocated and their peak; 0 before `count_allocations`.
AllocatedBytes allocated_bytes();
/// The largest moment is now.
void reset_allocated_peak();

}  // namespace stepwright::runtime

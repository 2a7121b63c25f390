#pragma once

#include <cstdint>

namespace stepwright::step {

/// Bytes of model states in host memory for one rank.
struct HostModelStateBytes {
  /// Bytes of optimizer moments and parameters in host memory, including those of the job's other
  /// models (such as a reward model).
  std::int64_t states = 0;
  /// Bytes in host memory of gradients whose parameters the host updates, in the type of that
  /// update.
  std::int64_t gradients = 0;
  /// Additional bytes of host memory for pinned buffers and copies.
  std::int64_t pinned = 0;

  [[nodiscard]] std::int64_t bytes() const { return states + gradients + pinned; }
};

}  // namespace stepwright::step

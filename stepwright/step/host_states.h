#pragma once

#include <cstdint>

namespace stepwright::step {

/// Bytes of model states that the host holds for one rank.
struct HostStates {
  /// Optimizer moments and parameters, also those of other models of the job.
  std::int64_t states = 0;
  /// Gradients of parameters that the host updates, in the type of that update.
  std::int64_t gradients = 0;
  /// Pinned buffers and copies in addition (`FrameworkDefaults::host_share`).
  std::int64_t pinned = 0;

  [[nodiscard]] std::int64_t bytes() const { return states + gradients + pinned; }
};

}  // namespace stepwright::step

#pragma once

#include <cstdint>

namespace stepwright::step {

/// Bytes of model states that a host holds for a rank.
struct HostStates {
  std::int64_t states = 0;     ///< Moments, parameters, and those of other models.
  std::int64_t gradients = 0;  ///< Gradients of what the host updates, in the type of its update.
  std::int64_t pinned = 0;  ///< Buffers and copies beside them (`FrameworkDefaults::host_share`).

  [[nodiscard]] std::int64_t bytes() const { return states + gradients + pinned; }
};

}  // namespace stepwright::step

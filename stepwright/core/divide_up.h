#pragma once

#include <cstdint>

namespace stepwright {

/// Returns `value / by`, rounded up. `value` must be at least 0, `by` at least 1.
constexpr std::int64_t ceil_divide(std::int64_t value, std::int64_t by) {
  return (value + by - 1) / by;
}

}  // namespace stepwright

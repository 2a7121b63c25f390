#pragma once

#include <cstdint>

namespace stepwright {

/// `value / by`, rounded up; for a `value` of at least 0 and a `by` of at least 1.
constexpr std::int64_t ceil_divide(std::int64_t value, std::int64_t by) {
  return (value + by - 1) / by;
}

}  // namespace stepwright

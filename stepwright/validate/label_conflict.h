#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "stepwright/validate/rows/run_row.h"

namespace stepwright {

/// A row of memory that says whether it fitted.
struct Label {
  const RunRow* row = nullptr;
  bool fits = false;
  double capacity_bytes = 0;
};

/// Labels that cannot both be right: the first did not fit, the second fitted although it has the
/// same configuration, no smaller micro-batch, no more recomputation and no larger device.
std::vector<std::pair<std::size_t, std::size_t>> label_conflicts(std::span<const Label> labels);

}  // namespace stepwright

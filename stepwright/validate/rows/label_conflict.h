#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "stepwright/plan/job.h"

namespace stepwright::validate {

/// A row of memory that says whether it fitted.
struct Label {
  std::string id;
  std::string configuration;  ///< All that two rows must have in common to be compared.
  std::int64_t micro_batch = 1;
  plan::RecomputeKind
      recompute{};  ///< Recomputation of another kind than none, selective and full, as configured.
  bool fits = false;
  double capacity_bytes = 0;
};

/// The label of a row without its verdict. `gpu` is what the row calls its device, whose capacity
/// in that name ("A100-SXM-80GB") configures nothing.
Label label_of(const std::string& id, const plan::PlannedJob& planned, std::string_view gpu);

/// Labels that cannot both be right: the first did not fit, the second fitted although it has the
/// same configuration, no smaller micro-batch, no more recomputation and no larger device.
std::vector<std::pair<std::size_t, std::size_t>> label_conflicts(std::span<const Label> labels);

}  // namespace stepwright::validate

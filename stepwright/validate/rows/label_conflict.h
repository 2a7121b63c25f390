#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "stepwright/plan/job.h"

namespace stepwright::validate {

/// A memory row that tells only whether the run fitted in memory.
struct FitLabel {
  std::string id;
  /// Everything that must be equal in two rows before they are compared, as text.
  std::string configuration;
  std::int64_t micro_batch = 1;
  /// Kind of recomputation; a kind other than none, selective and full is also part of
  /// `configuration`, so that only equal kinds are compared.
  plan::RecomputeKind recompute{};
  bool fits = false;
  double capacity_bytes = 0;
};

/// Returns the label of a row, with `fits` not set. `gpu`: the row's word for its device; the
/// memory size in that word ("A100-SXM-80GB") is not part of the configuration.
FitLabel label_of(const std::string& id, const plan::PlannedJob& planned, std::string_view gpu);

/// Returns pairs of indices of labels that cannot both be right: the first run did not fit, but the
/// second did, with the same configuration, the same or a larger micro-batch, the same or less
/// recomputation, and the same or a smaller device.
std::vector<std::pair<std::size_t, std::size_t>> label_conflicts(std::span<const FitLabel> labels);

}  // namespace stepwright::validate

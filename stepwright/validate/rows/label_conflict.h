#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "stepwright/plan/job.h"

namespace stepwright::validate {

/// A row that states only whether a run fitted in memory, with what is needed to compare it with
/// other rows.
struct MemoryFitLabel {
  std::string id;
  /// Properties (model, batch, parallelism, ...) that must be equal in two rows before they are
  /// compared, as text.
  std::string configuration;
  std::int64_t micro_batch = 1;
  /// Kind of recomputation. Kinds other than none, selective and full cannot be ordered by memory,
  /// so they are also in `configuration`.
  plan::RecomputeKind recompute{};
  bool fits = false;
  double capacity_bytes = 0;
};

/// Returns the memory label of a row, with `fits` still to be set. `gpu`: the row's name for its
/// device; a memory size in it ("A100-SXM-80GB") is not part of the configuration.
MemoryFitLabel memory_fit_label(const std::string& id, const plan::PlannedJob& planned,
                                std::string_view gpu);

/// Returns pairs of indices of labels that contradict each other: the first run did not fit,
/// although the second fitted with the same configuration, an equal or larger micro-batch, equal or
/// less recomputation and an equal or smaller device.
std::vector<std::pair<std::size_t, std::size_t>> memory_fit_label_conflicts(
    std::span<const MemoryFitLabel> labels);

}  // namespace stepwright::validate

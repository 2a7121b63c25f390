#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "stepwright/answers/memory_reserve.h"
#include "stepwright/memory/allocated.h"
#include "stepwright/memory/memory.h"
#include "stepwright/plan/job.h"
#include "stepwright/snapshot/compare_snapshots.h"

namespace stepwright::answers {

/// The arguments of the command `stepwright memory`, besides the plan itself.
struct PlanMemoryRequest {
  std::string name;  ///< Name of the plan's file, used in messages.
  /// Changes to the plan to try: "FIELD=VALUE" or "FIELD=2x" (twice the value).
  std::vector<std::string> changes;
  MemoryHeadroom reserve;
  /// Paths of PyTorch memory snapshots from ranks that ran the plan; empty: none.
  std::vector<std::string> snapshots;
};

/// The result of the command `memory`: the peak memory of each pipeline stage of a plan, by kind of
/// tensor.
struct PlanMemoryAnswer {
  plan::PlannedJob planned;  ///< The plan with the requested changes applied.
  memory::MemoryReport report;
  /// For each pipeline stage, the bytes that PyTorch's caching allocator would report.
  std::vector<memory::PyTorchAllocatedMemory> allocated;
  /// Comparison of the snapshots with the plan; nullopt: no snapshots were given.
  std::optional<snapshot::SnapshotComparison> snapshot;
  /// Notes for the user about assumptions and about what the numbers leave out.
  std::vector<std::string> notes;
};

/// Computes the peak memory of a plan after applying the requested changes. Fails with `kInput` if
/// a change is invalid or makes the plan illegal.
PlanMemoryAnswer compute_plan_peak_memory(plan::PlannedJob planned,
                                          const PlanMemoryRequest& request);

/// Writes the predicted allocations of one step as a snapshot file of PyTorch's caching allocator,
/// for PyTorch's memory viewer. Fails if the file cannot be written.
void write_predicted_memory_snapshot(const plan::PlannedJob& planned, const std::string& path);

/// Returns the JSON document that `memory --json` prints (docs/formats.md).
nlohmann::ordered_json memory_answer_json(const PlanMemoryAnswer& answer);

}  // namespace stepwright::answers

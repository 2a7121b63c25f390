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

/// The arguments of the command `stepwright memory`.
struct MemoryRequest {
  std::string name;                  ///< Name of the plan's file, for messages.
  std::vector<std::string> changes;  ///< Changes to try: "FIELD=VALUE", "FIELD=2x".
  MemoryHeadroom reserve;
  /// Snapshots of PyTorch's caching allocator, from ranks that run the plan; empty: none.
  std::vector<std::string> snapshots;
};

/// The result of `memory`: the peak memory of each stage of a plan, by kind.
struct MemoryAnswer {
  plan::PlannedJob planned;  ///< Plan after the changes of the request.
  memory::MemoryReport report;
  /// Peak memory of each stage as PyTorch's caching allocator would report it.
  std::vector<memory::AllocatedMemory> allocated;
  /// The snapshots compared with the plan; nullopt: no snapshots were given.
  std::optional<snapshot::SnapshotComparison> snapshot;
  std::vector<std::string> notes;  ///< Notes about assumptions and gaps, for the user.
};

/// Computes the memory of a plan. Fails with `kInput` if a change is invalid or makes the plan
/// illegal.
MemoryAnswer account_plan_memory(plan::PlannedJob planned, const MemoryRequest& request);

/// Writes the predicted allocations of a step as a snapshot of PyTorch's caching allocator
/// (`snapshot::write_snapshot`). Fails as `OutputFile`.
void write_planned_snapshot(const plan::PlannedJob& planned, const std::string& path);

/// Returns the document of `memory --json` (docs/formats.md).
nlohmann::ordered_json memory_answer_json(const MemoryAnswer& answer);

}  // namespace stepwright::answers

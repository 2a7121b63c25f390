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

/// The options of a memory account.
struct MemoryRequest {
  std::string name;                  ///< Of the plan's file, for messages.
  std::vector<std::string> changes;  ///< What if: "FIELD=VALUE", "FIELD=2x".
  MemoryReserve reserve;
  /// Snapshots of PyTorch's caching allocator, of ranks that run the plan; empty: none.
  std::vector<std::string> snapshots;
};

/// The memory of each stage of a plan at its peak, by kind.
struct MemoryAnswer {
  plan::PlannedJob planned;  ///< With the changes.
  memory::MemoryReport report;
  std::vector<memory::AllocatedMemory> allocated;  ///< Of each stage, as PyTorch counts.
  /// The snapshots beside the plan; nullopt without snapshots.
  std::optional<snapshot::SnapshotComparison> snapshot;
  std::vector<std::string> notes;  ///< For people.
};

/// Accounts a plan's memory. Fails with `kInput` where a change is none, or where the plan is not
/// legal then.
MemoryAnswer answer_memory(plan::PlannedJob planned, const MemoryRequest& request);

/// Writes a step of the plan as a snapshot of PyTorch's caching allocator
/// (`snapshot::write_snapshot`). Fails as `OutputFile`.
void write_planned_snapshot(const plan::PlannedJob& planned, const std::string& path);

/// The document of `memory --json` (docs/formats.md).
nlohmann::ordered_json memory_answer_json(const MemoryAnswer& answer);

}  // namespace stepwright::answers

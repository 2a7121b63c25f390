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
  std::string name;                  ///< Name of the plan's file, for messages.
  std::vector<std::string> changes;  ///< Changes to try: "FIELD=VALUE", "FIELD=2x".
  MemoryReserve reserve;
  /// Snapshots of PyTorch's caching allocator, of ranks that run the plan; empty: none.
  std::vector<std::string> snapshots;
};

/// The memory of each stage of a plan at its peak, by kind.
struct MemoryAnswer {
  plan::PlannedJob planned;  ///< Plan with the changes.
  memory::MemoryReport report;
  /// Memory of each stage as PyTorch's allocator counts it.
  std::vector<memory::AllocatedMemory> allocated;
  /// The snapshots beside the plan; nullopt without snapshots.
  std::optional<snapshot::SnapshotComparison> snapshot;
  std::vector<std::string> notes;  ///< Remarks for people who read the answer.
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

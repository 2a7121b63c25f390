#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "stepwright/answers/memory_reserve.h"
#include "stepwright/memory/allocated.h"
#include "stepwright/memory/memory.h"
#include "stepwright/plan/job.h"

namespace stepwright::answers {

/// The options of a memory account.
struct MemoryRequest {
  std::string name;                  ///< Of the plan's file, for messages.
  std::vector<std::string> changes;  ///< What if: "FIELD=VALUE", "FIELD=2x".
  MemoryReserve reserve;
};

/// The memory of each stage of a plan at its peak, by kind.
struct MemoryAnswer {
  plan::PlannedJob planned;  ///< With the changes.
  memory::MemoryReport report;
  std::vector<memory::AllocatedMemory> allocated;  ///< Of each stage, as PyTorch counts.
  std::vector<std::string> notes;                  ///< For people.
};

/// Accounts a plan's memory. Fails with `kInput` where a change is none, or where the plan is not
/// legal then.
MemoryAnswer answer_memory(plan::PlannedJob planned, const MemoryRequest& request);

/// The document of `memory --json` (docs/formats.md).
nlohmann::ordered_json memory_answer_json(const MemoryAnswer& answer);

}  // namespace stepwright::answers

#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>

#include "stepwright/memory/allocated.h"
#include "stepwright/memory/memory.h"

namespace stepwright::memory {

/// Writes the report as `stepwright memory --json` prints it, in whole bytes: `peak_memory_bytes`,
/// `stages` (`stage`, `peak_memory_bytes`, `kinds`), `fits`, `verdict`, `capacity_bytes`,
/// `reserve_bytes`; if the job does not fit also `largest_kind` (of the stage with the peak) and
/// `over_by_bytes`. With `allocated`, by position, each stage also has `allocated_after_step_bytes`
/// and `allocated_peak_bytes`.
nlohmann::ordered_json memory_json(const MemoryReport& report,
                                   std::span<const AllocatedMemory> allocated = {});

/// Writes the host bytes by kind, in whole bytes.
nlohmann::ordered_json host_kinds_json(const MemoryReport& report);

}  // namespace stepwright::memory

#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>

#include "stepwright/memory/allocated.h"
#include "stepwright/memory/memory.h"

namespace stepwright::memory {

/// The report as `stepwright memory --json` prints it, in whole bytes: `peak_memory_bytes`,
/// `stages` (`stage`, `peak_memory_bytes`, `kinds`), `fits`, `verdict`, `capacity_bytes`,
/// `reserve_bytes`; when it does not fit also `largest_kind` (of the stage with the peak) and
/// `over_by_bytes`. With `allocated`, by position, each stage has `allocated_after_step_bytes` and
/// `allocated_peak_bytes`, too.
nlohmann::ordered_json memory_json(const MemoryReport& report,
                                   std::span<const AllocatedMemory> allocated = {});

/// The kinds of `host_memory_bytes`, in whole bytes.
nlohmann::ordered_json host_kinds_json(const MemoryReport& report);

}  // namespace stepwright::memory

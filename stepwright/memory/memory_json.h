#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>

#include "stepwright/memory/allocated.h"
#include "stepwright/memory/memory.h"

namespace stepwright::memory {

/// Returns the memory report as `stepwright memory --json` prints it, in whole bytes:
/// `peak_memory_bytes`, `stages` (`stage`, `peak_memory_bytes`, `kinds`), `fits`, `verdict`,
/// `capacity_bytes`, `reserve_bytes`; if the job does not fit also `largest_kind` and
/// `over_by_bytes`; with `allocated`, each stage also has what PyTorch's allocator would report.
nlohmann::ordered_json memory_json(const MemoryReport& report,
                                   std::span<const PyTorchAllocatedMemory> allocated = {});

/// Returns the host memory of a report by kind as JSON, in whole bytes.
nlohmann::ordered_json host_memory_kinds_json(const MemoryReport& report);

}  // namespace stepwright::memory

#pragma once

#include "stepwright/memory/memory.h"

namespace stepwright::memory {

/// Returns the pipeline stage with the largest peak memory, the first of equals; null if the report
/// has no stages.
const StageMemory* fullest_memory_stage(const MemoryReport& report);

}  // namespace stepwright::memory

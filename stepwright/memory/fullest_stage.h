#pragma once

#include "stepwright/memory/memory.h"

namespace stepwright::memory {

/// Returns the pipeline stage with the largest peak memory, the first of equals; null if the report
/// has no stages.
const StageMemory* stage_with_highest_peak_memory(const MemoryReport& report);

}  // namespace stepwright::memory

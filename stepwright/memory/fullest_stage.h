#pragma once

#include "stepwright/memory/memory.h"

namespace stepwright::memory {

/// Returns the stage with the largest peak, the first of equal ones; null if a report has no
/// stages.
const StageMemory* fullest_stage(const MemoryReport& report);

}  // namespace stepwright::memory

#pragma once

#include "stepwright/memory/memory.h"

namespace stepwright::memory {

/// The stage with the largest peak, the first of equals; null where a report has no stages.
const StageMemory* fullest_stage(const MemoryReport& report);

}  // namespace stepwright::memory

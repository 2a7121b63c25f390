#include "stepwright/memory/fullest_stage.h"

#include <algorithm>

namespace stepwright::memory {

const StageMemory* fullest_memory_stage(const MemoryReport& report) {
  const auto most = std::ranges::max_element(report.stages, {}, &StageMemory::peak_bytes);
  return most == report.stages.end() ? nullptr : &*most;
}

}  // namespace stepwright::memory

#include "stepwright/memory/fullest_stage.h"

#include <algorithm>

namespace stepwright::memory {

const StageMemory* stage_with_highest_peak_memory(const MemoryReport& report) {
  const auto most = std::ranges::max_element(report.stages, {}, &StageMemory::peak_bytes);
  return most == report.stages.end() ? nullptr : &*most;
}

}  // namespace stepwright::memory

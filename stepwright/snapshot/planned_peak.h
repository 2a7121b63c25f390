#pragma once

#include <cstdint>
#include <vector>

#include "stepwright/memory/allocations.h"

namespace stepwright::snapshot {

/// The blocks of one pipeline position of a plan at its peak of bytes in use.
struct PlannedPeak {
  std::int64_t bytes = 0;
  /// Blocks at the peak, in the order of their allocation.
  std::vector<memory::PlannedBlock> blocks;
};

PlannedPeak planned_peak(const plan::Job& job, const step::StepProgram& program,
                         const step::Stage& stage);

}  // namespace stepwright::snapshot

#pragma once

#include <cstdint>
#include <vector>

#include "stepwright/memory/allocations.h"

namespace stepwright::snapshot {

/// The predicted blocks of memory of one pipeline stage at its peak.
struct PlannedStagePeak {
  std::int64_t bytes = 0;
  /// Blocks of memory in use at the stage's predicted peak, in the order of their allocation.
  std::vector<memory::PredictedAllocation> blocks;
};

PlannedStagePeak planned_peak(const plan::Job& job, const step::StepProgram& program,
                              const step::PipelineStageProgram& stage);

}  // namespace stepwright::snapshot

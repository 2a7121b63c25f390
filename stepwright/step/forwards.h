#pragma once

#include "stepwright/plan/job.h"
#include "stepwright/step/program.h"

namespace stepwright::step {

/// The forward passes of a step alone: nothing is kept for a backward, and there are neither
/// gradients nor states of an optimizer. Of two strands the forwards run without the other.
StepProgram forwards_of(plan::Job job, plan::Plan plan,
                        MicroBatchSize size = MicroBatchSize::kLargest);

}  // namespace stepwright::step

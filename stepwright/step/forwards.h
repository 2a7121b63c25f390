#pragma once

#include "stepwright/plan/job.h"
#include "stepwright/step/program.h"

namespace stepwright::step {

/// Returns the program of a step's forward passes alone: nothing is kept for a backward, and there
/// are neither gradients nor optimizer states. In a plan that interleaves two micro-batches, each
/// forward runs alone.
StepProgram forward_only_program(
    plan::Job job, plan::Plan plan,
    RepresentativeMicroBatch size = RepresentativeMicroBatch::kLargest);

}  // namespace stepwright::step

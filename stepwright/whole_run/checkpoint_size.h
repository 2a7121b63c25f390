#pragma once

#include "stepwright/plan/plan.h"
#include "stepwright/step/program.h"

namespace stepwright::whole_run {

/// Bytes of a checkpoint: trained parameters and optimizer states. Each element counts once,
/// however many ranks hold it; only tensors that every tensor rank holds whole (norms, one half of
/// an adapter) count once per tensor rank.
struct CheckpointSize {
  double bytes = 0;
  /// The most bytes that one rank writes, if ranks with the same states share the writing.
  double largest_part_bytes = 0;
};

/// Returns the bytes of a checkpoint of `plan`; `program`: the plan's step.
CheckpointSize checkpoint_size(const plan::Plan& plan, const step::StepProgram& program);

}  // namespace stepwright::whole_run

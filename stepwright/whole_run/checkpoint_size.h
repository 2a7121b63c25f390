#pragma once

#include "stepwright/plan/plan.h"
#include "stepwright/step/program.h"

namespace stepwright::whole_run {

/// Bytes of a checkpoint: trained parameters and optimizer states. Each element counts once,
/// however many ranks hold it; but tensors that every tensor rank holds whole (such as norms) count
/// once per tensor rank.
struct CheckpointSize {
  double bytes = 0;
  /// Largest share of a checkpoint, in bytes, that one rank writes, if ranks with equal states
  /// share the writing.
  double largest_part_bytes = 0;
};

/// Returns the bytes of a checkpoint of a plan. `program`: the plan's step program.
CheckpointSize checkpoint_size(const plan::Plan& plan, const step::StepProgram& program);

}  // namespace stepwright::whole_run

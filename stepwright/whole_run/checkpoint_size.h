#pragma once

#include "stepwright/plan/plan.h"
#include "stepwright/step/program.h"

namespace stepwright::whole_run {

/// What a checkpoint of a program's states holds: parameters that are trained and optimizer states,
/// each element once, whoever holds it, but for what each tensor rank holds whole (norms, a half of
/// an adapter).
struct CheckpointSize {
  double bytes = 0;
  double largest_part_bytes = 0;  ///< Of a rank, where holders of the same states share them out.
};

/// `plan`: the program's.
CheckpointSize checkpoint_size(const plan::Plan& plan, const step::StepProgram& program);

}  // namespace stepwright::whole_run

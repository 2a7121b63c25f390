#pragma once

#include "stepwright/plan/plan.h"
#include "stepwright/step/program.h"

namespace stepwright::whole_run {

/// Bytes of a checkpoint of a program's states: parameters that are trained and optimizer states.
/// Each element counts once, whoever holds it, except what each tensor rank holds whole (norms, a
/// half of an adapter).
struct CheckpointSize {
  double bytes = 0;
  /// Largest part of a rank, where holders of the same states share them out.
  double largest_part_bytes = 0;
};

/// Bytes of a checkpoint of `plan`, whose program is `program`.
CheckpointSize checkpoint_size(const plan::Plan& plan, const step::StepProgram& program);

}  // namespace stepwright::whole_run

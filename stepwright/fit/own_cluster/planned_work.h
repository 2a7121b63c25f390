#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "stepwright/step/program.h"

namespace stepwright {

/// The computations of one kind in one phase, of one rank in one step.
struct PlannedWork {
  double operators = 0;
  double flops = 0;
  double bytes = 0;
  DType dtype{};
};
using WorkByKind = std::map<std::pair<OperatorKind, Phase>, PlannedWork>;

/// What a pipeline position computes in a step; recomputation counts as forward (`law_phase`).
WorkByKind planned_work(const StepProgram& program, const Stage& stage);

}  // namespace stepwright

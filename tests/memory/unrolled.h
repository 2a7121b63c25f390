#pragma once

#include <string>
#include <vector>

#include "stepwright/step/program.h"

namespace stepwright::testing {

/// Findings of a walk that allocates and frees every tensor of every operator one by one.
struct Unrolled {
  double peak_bytes = 0;            ///< Peak without model states.
  double left_bytes = 0;            ///< Alive after the last slot.
  std::vector<std::string> faults;  ///< Hand-overs that do not fit together.
};

/// Walks a whole stage. Independent of stepwright/memory but for the size of one buffer.
Unrolled unroll(const step::StepProgram& program, const step::Stage& stage);

}  // namespace stepwright::testing

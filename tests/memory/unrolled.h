#pragma once

#include <string>
#include <vector>

#include "stepwright/step/program.h"

namespace stepwright::testing {

/// What a walk that allocates and frees every tensor of every operator one by one finds.
struct Unrolled {
  double peak_bytes = 0;            ///< Without states.
  double left_bytes = 0;            ///< Alive after the last slot.
  std::vector<std::string> faults;  ///< Hand-overs that do not fit together.
};

/// Walks a whole stage. Independent of stepwright/memory but for the size of one buffer.
Unrolled unroll(const step::StepProgram& program, const step::Stage& stage);

}  // namespace stepwright::testing

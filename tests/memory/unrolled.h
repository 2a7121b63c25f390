#pragma once

#include <string>
#include <vector>

#include "stepwright/step/program.h"

namespace stepwright::testing {

/// The result of allocating and freeing every tensor of every operator one by one.
struct Unrolled {
  double peak_bytes = 0;            ///< Peak bytes without model states.
  double left_bytes = 0;            ///< Bytes still allocated after the last slot.
  std::vector<std::string> faults;  ///< Tensors that operators passed on wrongly.
};

/// Simulates the allocations of a whole stage. Independent of stepwright/memory, except for the
/// size of a buffer.
Unrolled unroll(const step::StepProgram& program, const step::PipelineStageProgram& stage);

}  // namespace stepwright::testing

#pragma once

#include <nlohmann/json_fwd.hpp>

#include "stepwright/step/program.h"

namespace stepwright::step {

/// Returns the whole program of a step as JSON: templates with operators and tensors, stages with
/// sequences and schedule (docs/formats.md, "Program").
nlohmann::ordered_json step_program_json(const StepProgram& program);

}  // namespace stepwright::step

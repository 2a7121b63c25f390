#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "stepwright/step/program.h"

namespace stepwright::runtime {

/// Seconds of each operator of a step program, as [template][operator]; a template is the operators
/// of one block's forward or backward. An operator that repeats counts all its repeats.
using OperatorTimes = std::vector<std::vector<double>>;

/// Returns the JSON text of a file of predicted operator times (docs/formats.md, "Times").
std::string operator_times_json(const step::StepProgram& program, const OperatorTimes& times);

/// Reads a file of predicted operator times. Fails with `kInput` if it belongs to another step
/// program, or if a number is not a duration.
OperatorTimes load_operator_times(const std::filesystem::path& path,
                                  const step::StepProgram& program);

}  // namespace stepwright::runtime

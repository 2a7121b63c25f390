#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "stepwright/step/program.h"

namespace stepwright::runtime {

/// Seconds of each operator of each template of a program, its repeats included.
using OperatorTimes = std::vector<std::vector<double>>;

/// Returns the text of a file of times (docs/formats.md, "Times").
std::string operator_times_json(const step::StepProgram& program, const OperatorTimes& times);

/// Reads a file of times. Fails with `kInput` when it belongs to another program, or has a number
/// that is not a duration.
OperatorTimes load_operator_times(const std::filesystem::path& path,
                                  const step::StepProgram& program);

}  // namespace stepwright::runtime

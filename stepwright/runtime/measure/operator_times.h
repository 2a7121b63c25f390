#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "stepwright/step/program.h"

namespace stepwright::runtime {

/// Seconds of each operator of each template of a program, its repeats included.
using OperatorTimes = std::vector<std::vector<double>>;

/// The text of a file of times (docs/formats.md, "Times").
std::string operator_times_json(const step::StepProgram& program, const OperatorTimes& times);

/// Reads such a file. Fails with `kInput` when it is of another program, or has a number that is
/// no duration.
OperatorTimes load_operator_times(const std::filesystem::path& path,
                                  const step::StepProgram& program);

}  // namespace stepwright::runtime

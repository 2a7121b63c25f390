#pragma once

#include <optional>
#include <span>
#include <vector>

#include "stepwright/logs/log.h"
#include "stepwright/logs/match.h"
#include "stepwright/step/program.h"

namespace stepwright::logs {

/// Sets the predicted seconds of one call in each row of a comparison. `times`: seconds of each
/// operator of each template, summed over its repeats (`operator_times`). Where calls of one
/// operation, group and payload have different times, their mean is used.
void add_predicted_times(LogComparison& comparison, const step::StepProgram& program,
                         const plan::Grid& grid, std::span<const std::vector<double>> times);

/// Returns the seconds between the marks of consecutive steps, the median over all ranks and steps;
/// nullopt if a log has fewer than two marks.
std::optional<double> logged_step_s(const Log& log);

}  // namespace stepwright::logs

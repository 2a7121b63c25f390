#pragma once

#include <optional>
#include <span>
#include <vector>

#include "stepwright/logs/log.h"
#include "stepwright/logs/match.h"
#include "stepwright/step/program.h"

namespace stepwright::logs {

/// Says of each row of a comparison how long its predicted calls take by themselves. `times` has
/// the seconds of each operator of each template, of all its repeats (`operator_times`); where
/// calls of one operation, group and payload differ, a call takes their mean.
void add_predicted_times(LogComparison& comparison, const step::StepProgram& program,
                         const plan::Grid& grid, std::span<const std::vector<double>> times);

/// Seconds from one mark of a step to the next, the median of all ranks and steps; nullopt if a log
/// has fewer than two marks.
std::optional<double> logged_step_s(const Log& log);

}  // namespace stepwright::logs

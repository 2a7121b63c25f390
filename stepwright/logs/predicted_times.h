#pragma once

#include <optional>
#include <span>
#include <vector>

#include "stepwright/logs/log.h"
#include "stepwright/logs/match.h"
#include "stepwright/step/program.h"

namespace stepwright::logs {

/// Sets the predicted seconds of one call in each row of a comparison of planned and logged calls.
/// `times`: [template][operator], seconds summed over an operator's repeats; a template is the
/// operators of one block's forward or backward. If calls of one operation, group and payload have
/// different times, their mean is used.
void add_predicted_call_times(LogPlanComparison& comparison, const step::StepProgram& program,
                              const plan::RankGrid& grid,
                              std::span<const std::vector<double>> times);

/// Returns the logged step time in seconds: the median time between consecutive step marks over all
/// ranks and steps; nullopt if no log has two marks.
std::optional<double> median_logged_step_s(const CommunicationLog& log);

}  // namespace stepwright::logs

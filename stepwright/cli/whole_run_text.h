#pragma once

#include <optional>
#include <string>

#include "stepwright/whole_run/plans_by_run.h"
#include "stepwright/whole_run/whole_run.h"

namespace stepwright::cli {

/// Returns the text of `stepwright run`: days, GPU-hours and cost of a whole training run with
/// their ranges, the share of useful time, failures and checkpoints, how the time is spent, and the
/// assumptions. `played`: results of runs simulated event by event, shown beside the predicted
/// ones; nullopt: none.
std::string whole_run_text(const simulate::PlanPrediction& prediction,
                           const whole_run::TrainingRunPrediction& run,
                           const std::optional<whole_run::SimulatedRuns>& played);

/// Returns a table of a job's plans, ordered by the time of the whole training run, and whether the
/// plan with the fastest step also has the shortest run.
std::string plans_by_run_time_table(const whole_run::PlanRunComparison& comparison);

/// Returns a line about the whole training run: "1T tokens take 162 days (145 to 190) and 249,000
/// GPU-hours, 96.4% of it steps; ...". If failures would never let the run end, the line has the
/// time of the steps alone and the reason. `assumed`: true if the number of tokens is an
/// assumption.
std::string whole_run_summary_line(const simulate::PlanPrediction& prediction,
                                   const plan::TrainingRunSettings& settings,
                                   const whole_run::IdleDevices& idle, bool assumed);

}  // namespace stepwright::cli

#pragma once

#include <optional>
#include <string>

#include "stepwright/whole_run/plans_by_run.h"
#include "stepwright/whole_run/whole_run.h"

namespace stepwright::cli {

/// The text of `stepwright run`: days, GPU-hours and cost with where they lie, the useful share,
/// failures and checkpoints, where the time goes, what is assumed; beside it what played runs took.
std::string whole_run_text(const simulate::Prediction& prediction, const whole_run::WholeRun& run,
                           const std::optional<whole_run::SimulatedRuns>& played);

/// The plans of a job by their whole runs, and whether the fastest step is the shortest run.
std::string plans_by_run_text(const whole_run::PlansByRun& comparison);

/// "1T tokens take 162 days (145 to 190) and 249,000 GPU-hours, 96.4% of it steps; ...": what
/// `predict` and `tune` say. Where no run would end, steps alone and why. `assumed`: nobody said
/// how many tokens.
std::string whole_run_line(const simulate::Prediction& prediction,
                           const plan::RunSettings& settings, const whole_run::IdleDevices& idle,
                           bool assumed);

}  // namespace stepwright::cli

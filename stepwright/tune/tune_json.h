#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "stepwright/simulate/prediction.h"
#include "stepwright/tune/frameworks.h"
#include "stepwright/tune/tune.h"

namespace stepwright::tune {

/// Returns the notes for a user of the best plan: first those of its prediction, then those of the
/// search.
std::vector<std::string> all_plan_notes(const TuneResult& result,
                                        const simulate::PlanPrediction& best);

/// Callback that returns the names of the frameworks that run a plan of the searched job unchanged.
using FrameworksRunningPlan = std::function<std::vector<std::string>(const plan::Plan&)>;

/// Returns the JSON document of `tune --json` (docs/formats.md). `best`: the prediction of the
/// first plan of the result; `runs`: how frameworks run that plan; `started_by`: which frameworks
/// run a plan unchanged.
nlohmann::ordered_json tune_json(const TuneResult& result, const simulate::PlanPrediction& best,
                                 const std::vector<NearestFrameworkPlan>& runs,
                                 const FrameworksRunningPlan& started_by);

/// Returns one simulated plan as an entry of the JSON list `plans` of `tune --json`.
nlohmann::ordered_json tuned_plan_json(const TuneResult& result, const TunedPlan& tuned,
                                       const FrameworksRunningPlan& started_by);

}  // namespace stepwright::tune

#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "stepwright/simulate/prediction.h"
#include "stepwright/tune/frameworks.h"
#include "stepwright/tune/tune.h"

namespace stepwright::tune {

/// The notes for a person who takes the best plan: the remarks of its prediction, then those of the
/// search.
std::vector<std::string> all_notes(const TuneResult& result, const simulate::Prediction& best);

/// Names of the frameworks that start a plan of the result's job as it is.
using StartedBy = std::function<std::vector<std::string>(const plan::Plan&)>;

/// The document of `tune --json`; keys as in docs/formats.md. `plan` is `plan_json`; `best` is the
/// prediction of the first plan, `runs` says how frameworks run it.
nlohmann::ordered_json tune_json(const TuneResult& result, const simulate::Prediction& best,
                                 const std::vector<FrameworkRun>& runs,
                                 const StartedBy& started_by);

/// One simulated plan as it stands in `plans`.
nlohmann::ordered_json tuned_plan_json(const TuneResult& result, const TunedPlan& tuned,
                                       const StartedBy& started_by);

}  // namespace stepwright::tune

#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "stepwright/simulate/prediction.h"
#include "stepwright/tune/frameworks.h"
#include "stepwright/tune/tune.h"

namespace stepwright::tune {

/// Returns the notes for a person who uses the best plan: those of its prediction, then those of
/// the search.
std::vector<std::string> all_notes(const TuneResult& result, const simulate::Prediction& best);

/// Returns the names of the frameworks that run a plan of the result's job unchanged.
using StartedBy = std::function<std::vector<std::string>(const plan::Plan&)>;

/// Returns the document of `tune --json`, with keys as in docs/formats.md. `best`: the prediction
/// of the first plan; `runs`: how frameworks run that plan.
nlohmann::ordered_json tune_json(const TuneResult& result, const simulate::Prediction& best,
                                 const std::vector<FrameworkRun>& runs,
                                 const StartedBy& started_by);

/// Returns one simulated plan as an entry of `plans` in the document.
nlohmann::ordered_json tuned_plan_json(const TuneResult& result, const TunedPlan& tuned,
                                       const StartedBy& started_by);

}  // namespace stepwright::tune

#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "stepwright/simulate/prediction.h"

namespace stepwright::report {

/// Callback that finds the best plan for a changed job; nullopt: no plan is legal and fits.
using SearchAgain = std::function<std::optional<simulate::PlanPrediction>(const plan::Job&)>;

/// Returns how the step time reacts to changes of one thing at a time, as JSON {`now`, `changes`
/// [{`what`, `set`, `searched` (the new plan), figures or `refused`}]}: network, global batch,
/// sequence length or micro-batch (plan unchanged), or one node fewer (plan found by `search`; left
/// out if that is empty).
nlohmann::ordered_json step_time_sensitivity_json(const simulate::PlanPrediction& prediction,
                                                  const SearchAgain& search = {});

}  // namespace stepwright::report

#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "stepwright/simulate/prediction.h"

namespace stepwright::report {

/// Finds the best plan for a changed job; nullopt: no plan is legal and fits.
using SearchAgain = std::function<std::optional<simulate::Prediction>(const plan::Job&)>;

/// Returns the step time after single changes: to the network, the global batch, the sequence
/// length and the micro-batch, with the plan unchanged; and with one node fewer, with the plan that
/// `search` finds for it (left out if `search` is empty). {`now`, `changes` [{`what`, `set`,
/// `searched` (the new plan, if one was searched), figures or `refused`}]}.
nlohmann::ordered_json sensitivity_json(const simulate::Prediction& prediction,
                                        const SearchAgain& search = {});

}  // namespace stepwright::report

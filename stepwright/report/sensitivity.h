#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "stepwright/simulate/prediction.h"

namespace stepwright::report {

/// The best plan for another job; nullopt if none is legal and fits.
using SearchAgain = std::function<std::optional<simulate::Prediction>(const plan::Job&)>;

/// The step times with one thing different: the network, the batch, the length and the micro-batch
/// with the plan as it is, and one node fewer with the plan that is best then, where `search` can
/// find it. {`now`, `changes` [{`what`, `set`, `searched` (with the plan that is best then),
/// figures or `refused`}]}.
nlohmann::ordered_json sensitivity_json(const simulate::Prediction& prediction,
                                        const SearchAgain& search = {});

}  // namespace stepwright::report

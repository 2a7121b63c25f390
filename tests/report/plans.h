#pragma once

#include <nlohmann/json.hpp>

#include "stepwright/simulate/prediction.h"

namespace stepwright::testing {

/// Returns a prediction of Llama-3-70B on eight nodes with a reduced batch: four stages, tensor and
/// context parallelism.
simulate::PlanPrediction large_prediction();

/// Returns a prediction of `large_prediction`'s plan with optimizer states offloaded to the hosts.
simulate::PlanPrediction offloaded_prediction();

/// Returns a prediction of a small Llama on four ranks.
simulate::PlanPrediction small_prediction();

}  // namespace stepwright::testing

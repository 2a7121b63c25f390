#pragma once

#include <nlohmann/json.hpp>

#include "stepwright/simulate/prediction.h"

namespace stepwright::testing {

/// Llama-3-70B on eight nodes with a smaller batch: four stages, tensor and context parallelism.
simulate::Prediction large_prediction();

/// A prediction of `large_prediction`'s plan with its optimizer on the hosts.
simulate::Prediction offloaded_prediction();

/// A small Llama on four ranks.
simulate::Prediction small_prediction();

}  // namespace stepwright::testing

#pragma once

#include <nlohmann/json_fwd.hpp>

#include "stepwright/simulate/prediction.h"

namespace stepwright::report {

/// Returns the memory of each stage over the time of a step, by kind of memory, from a prediction
/// that recorded its timeline: {`kinds`, `stages` [{`stage`, `fillings` [[bytes of each kind],
/// ...], `curve` [[seconds, index into `fillings`], ...]}]}. The largest sum of a stage is its
/// predicted peak.
nlohmann::ordered_json memory_curves_json(const simulate::PlanPrediction& prediction);

}  // namespace stepwright::report

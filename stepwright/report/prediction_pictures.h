#pragma once

#include <nlohmann/json_fwd.hpp>

#include "stepwright/report/sensitivity.h"
#include "stepwright/simulate/prediction.h"

namespace stepwright::report {

/// Returns the data for a report's charts of one plan as JSON: `prediction`, `memory`,
/// `memory_curves`, `timeline`, `traffic`, `sensitivity`. Simulates the plan again to record its
/// timeline.
nlohmann::ordered_json prediction_charts_json(const simulate::PlanPrediction& prediction,
                                              const SearchAgain& search = {});

}  // namespace stepwright::report

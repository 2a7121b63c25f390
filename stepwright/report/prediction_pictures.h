#pragma once

#include <nlohmann/json_fwd.hpp>

#include "stepwright/report/sensitivity.h"
#include "stepwright/simulate/prediction.h"

namespace stepwright::report {

/// All that the pictures of one plan need beside its figures: its `prediction` again, `memory`,
/// `memory_curves`, `timeline`, `traffic`, `sensitivity`. Plays the plan once more, recorded.
nlohmann::ordered_json prediction_pictures(const simulate::Prediction& prediction,
                                           const SearchAgain& search = {});

}  // namespace stepwright::report

#pragma once

#include <nlohmann/json_fwd.hpp>

#include "stepwright/simulate/prediction.h"

namespace stepwright::report {

/// Returns the memory of each stage over a step by kind of memory: the account of `memory_moments`
/// at the times of the recorded timeline. The largest sum of a stage equals its peak in the
/// prediction. {`kinds`, `stages` [{`stage`, `fillings` [[bytes of each kind], ...], `curve`
/// [[seconds, index into `fillings`], ...]}]}.
nlohmann::ordered_json memory_curves_json(const simulate::Prediction& prediction);

}  // namespace stepwright::report

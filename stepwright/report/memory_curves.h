#pragma once

#include <nlohmann/json_fwd.hpp>

#include "stepwright/simulate/prediction.h"

namespace stepwright::report {

/// The kinds of memory that fill each stage over a step: the account of `memory_moments` at the
/// times of the recorded timeline. The largest moment of a stage is its peak in the prediction.
/// {`kinds`, `stages` [{`stage`, `fillings` [[bytes of each kind], ...], `curve` [[seconds, index
/// into `fillings`], ...]}]}.
nlohmann::ordered_json memory_curves_json(const simulate::Prediction& prediction);

}  // namespace stepwright::report

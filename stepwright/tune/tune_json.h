#pragma once

#include <nlohmann/json_fwd.hpp>

#include "stepwright/tune/tune.h"

namespace stepwright {

/// The document of `tune --json`; keys as in docs/formats.md. `plan` is `plan_json`.
nlohmann::ordered_json tune_json(const TuneResult& result);

/// One simulated plan as it stands in `plans`.
nlohmann::ordered_json tuned_plan_json(const TuneResult& result, const TunedPlan& tuned);

}  // namespace stepwright

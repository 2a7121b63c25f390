#pragma once

#include <nlohmann/json_fwd.hpp>

#include "stepwright/tune/tune.h"

namespace stepwright::explore {

/// Answers what the explorer's page asks (docs/formats.md, "Explorer"): `ask` is `choices`,
/// `predict`, `timeline`, `pictures` or `tune`; of the others than `choices` `text` is a plan or a
/// job and `name` what messages call it. A plan that no rule allows is answered with the reason and
/// the nearest that are legal; all else that is wrong fails with `Error`.
nlohmann::ordered_json explore(const nlohmann::ordered_json& question,
                               const tune::TellProgress& progress = {});

}  // namespace stepwright::explore

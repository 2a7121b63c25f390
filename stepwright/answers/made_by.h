#pragma once

#include <nlohmann/json_fwd.hpp>

namespace stepwright::answers {

/// Returns the JSON value `made_by` of an answer with predictions: {`version`, `constants`}, the
/// program's version and a hash of its cost constants, with which a prediction can be reproduced.
nlohmann::ordered_json producer_version_json();

}  // namespace stepwright::answers

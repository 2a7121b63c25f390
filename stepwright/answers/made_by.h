#pragma once

#include <nlohmann/json_fwd.hpp>

namespace stepwright::answers {

/// Returns `made_by` of an answer with predicted figures, {`version`, `constants`}: the program's
/// version and a hash of its constants, with which a figure can be reproduced.
nlohmann::ordered_json producer_version_json();

}  // namespace stepwright::answers

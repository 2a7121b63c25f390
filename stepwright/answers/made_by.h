#pragma once

#include <nlohmann/json_fwd.hpp>

namespace stepwright::answers {

/// `made_by` of an answer with predicted figures, {`version`, `constants`}: the program and a hash
/// of its constants, by which a figure can be repeated.
nlohmann::ordered_json made_by_json();

}  // namespace stepwright::answers

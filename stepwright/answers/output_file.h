#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace stepwright::answers {

/// Returns the text of a document, indented, with a newline at its end.
std::string json_text(const nlohmann::ordered_json& json);

}  // namespace stepwright::answers

#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace stepwright::answers {

/// Returns a JSON document as indented text that ends with a newline.
std::string indented_json_text(const nlohmann::ordered_json& json);

}  // namespace stepwright::answers

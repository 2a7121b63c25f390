#pragma once

#include <string>
#include <string_view>

namespace stepwright::model {

/// Returns the error message for an unknown model name, with the nearest and all built-in names.
std::string unknown_model_message(std::string_view name);

}  // namespace stepwright::model

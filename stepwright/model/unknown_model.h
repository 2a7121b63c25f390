#pragma once

#include <string>
#include <string_view>

namespace stepwright::model {

/// Returns the error message for an unknown model name: the nearest built-in name and the list of
/// all built-in names.
std::string unknown_model(std::string_view name);

}  // namespace stepwright::model

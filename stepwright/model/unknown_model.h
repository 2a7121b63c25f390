#pragma once

#include <string>
#include <string_view>

namespace stepwright::model {

/// The message for a name that no built-in model has: the nearest name and the list of all.
std::string unknown_model(std::string_view name);

}  // namespace stepwright::model

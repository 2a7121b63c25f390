#pragma once

#include <string>
#include <string_view>

namespace stepwright {

/// Translates an error message of the library yaml-cpp into this project's words: what is wrong
/// with the YAML text and what is allowed there.
std::string explain_yaml_error(std::string_view message);

}  // namespace stepwright

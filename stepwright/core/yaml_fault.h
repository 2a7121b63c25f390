#pragma once

#include <string>
#include <string_view>

namespace stepwright {

/// Says what is wrong with a YAML text, and what is allowed there, for a message of yaml-cpp.
std::string yaml_fault(std::string_view message);

}  // namespace stepwright

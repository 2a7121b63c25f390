#pragma once

#include <string>

namespace stepwright::cli {

/// Rewrites CLI11's message about a wrong argument in this project's style: "--top: Value 0 not in
/// range 1 to 9" becomes "--top: must be a number from 1 to 9; it is '0'".
std::string argument_error_text(const std::string& message);

}  // namespace stepwright::cli

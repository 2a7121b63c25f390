#pragma once

#include <string>

namespace stepwright::cli {

/// Rewrites an argument error of CLI11 in the style of all other messages: "--top: Value 0 not in
/// range 1 to 9" becomes "--top: must be a number from 1 to 9; it is '0'".
std::string parse_error_text(const std::string& message);

}  // namespace stepwright::cli

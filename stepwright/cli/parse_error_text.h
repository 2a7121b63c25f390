#pragma once

#include <string>

namespace stepwright::cli {

/// The message for a bad argument, in the words of all other messages: CLI11 says "--top: Value 0
/// not in range 1 to 9", we "--top: must be a number from 1 to 9; it is '0'".
std::string parse_error_text(const std::string& message);

}  // namespace stepwright::cli

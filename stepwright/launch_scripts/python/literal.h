#pragma once

#include <cstddef>
#include <string_view>

#include "stepwright/launch_scripts/python/parser.h"

namespace stepwright::launch_scripts {

/// Parses the number literal at the start of a text; `...` becomes a node of kind `kUnread`.
PythonNode parse_python_number(std::string_view text);

/// True if a text begins with a string literal, also one with a prefix (`f"`).
bool starts_python_string(std::string_view text);

/// Parses the string literal at position `at` and adds its literal pieces and its replacement
/// fields (f-strings) to the node `into`. Returns the position after the literal; a position beyond
/// the text if the literal, or a field in it, never closes.
std::size_t parse_python_string(std::string_view text, std::size_t at, const PythonPosition& place,
                                PythonNode& into);

}  // namespace stepwright::launch_scripts

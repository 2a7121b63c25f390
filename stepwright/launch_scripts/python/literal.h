#pragma once

#include <cstddef>
#include <string_view>

#include "stepwright/launch_scripts/python/parser.h"

namespace stepwright::launch_scripts {

/// Returns the number at the start of a text; `...` becomes a node of kind `kUnread`.
PythonNode python_number(std::string_view text);

/// True if a text begins with a string literal, also one with a prefix (`f"`).
bool starts_python_string(std::string_view text);

/// Adds the pieces and holes of the string literal at position `at` to the `kString` node `into`.
/// Returns the position after the literal; a position beyond the text if the literal, or a hole in
/// it, never closes.
std::size_t add_python_string(std::string_view text, std::size_t at, const PythonPlace& place,
                              PythonNode& into);

}  // namespace stepwright::launch_scripts

#pragma once

#include <cstddef>
#include <string_view>

#include "stepwright/launch_scripts/python/parser.h"

namespace stepwright::launch_scripts {

/// The number with which a text begins, or its "...", which is not read.
PythonNode python_number(std::string_view text);

/// Whether a text begins with one in quotes, also behind letters (`f"`).
bool starts_python_string(std::string_view text);

/// Adds the pieces and holes of the text in quotes at `at` to a `kString`. The place behind it, and
/// beyond the whole text where it never closes or one of its holes does not.
std::size_t add_python_string(std::string_view text, std::size_t at, const PythonPlace& place,
                              PythonNode& into);

}  // namespace stepwright::launch_scripts

#pragma once

#include <optional>
#include <string_view>

#include "stepwright/launch_scripts/python/object.h"

namespace stepwright::launch_scripts {

/// The result of an operator ("+", "-", "*", "/", "//", "%", "**") on whole numbers, texts (also
/// "/" of paths and "%" of values) and lists; unknown where nobody knows, beyond 2^63 and 10,000
/// items.
PythonObject python_operation(std::string_view sign, const PythonObject& a, const PythonObject& b);

/// Value of the expression `-value`.
PythonObject python_negative(PythonObject value);

/// Whether "==", "!=", "<", "<=", ">", ">=", "in", "not in", "is" or "is not" holds; nothing where
/// nobody knows.
std::optional<bool> python_comparison(std::string_view sign, const PythonObject& a,
                                      const PythonObject& b);

}  // namespace stepwright::launch_scripts

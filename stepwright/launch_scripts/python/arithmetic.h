#pragma once

#include <optional>
#include <string_view>

#include "stepwright/launch_scripts/python/object.h"

namespace stepwright::launch_scripts {

/// Returns the result of an operator ("+", "-", "*", "/", "//", "%", "**") on integers, texts (also
/// "/" of paths and "%" of a format) and lists. The result is unknown if an operand is, if it
/// exceeds 2^63, or if it has more than 10,000 items.
PythonObject python_operation(std::string_view sign, const PythonObject& a, const PythonObject& b);

/// Returns the value of the expression `-value`.
PythonObject python_negative(PythonObject value);

/// True if "==", "!=", "<", "<=", ">", ">=", "in", "not in", "is" or "is not" holds; nullopt if an
/// unknown value decides it.
std::optional<bool> python_comparison(std::string_view sign, const PythonObject& a,
                                      const PythonObject& b);

}  // namespace stepwright::launch_scripts

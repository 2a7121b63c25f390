#pragma once

#include <optional>
#include <string_view>

#include "stepwright/launch_scripts/python/object.h"

namespace stepwright::launch_scripts {

/// Returns the result of a Python operator ("+", "-", "*", "/", "//", "%", "**") on integers, texts
/// (also "/" of paths and "%" of a format) and lists. The result is unknown if an operand is
/// unknown, if it exceeds 2^63, or if it has more than 10,000 items.
PythonObject python_operator_result(std::string_view sign, const PythonObject& a,
                                    const PythonObject& b);

/// Returns the value of the Python expression `-value`.
PythonObject negated_python_value(PythonObject value);

/// True if the comparison `a sign b` holds, for the Python operators "==", "!=", "<", "<=", ">",
/// ">=", "in", "not in", "is" and "is not"; nullopt if an unknown value decides it.
std::optional<bool> python_comparison_holds(std::string_view sign, const PythonObject& a,
                                            const PythonObject& b);

}  // namespace stepwright::launch_scripts

#pragma once

#include <optional>
#include <string_view>

#include "stepwright/framework_files/syntax/python_object.h"

namespace stepwright::framework_files {

/// The result of an operator ("+", "-", "*", "/", "//", "%", "**") on whole numbers, texts (also
/// "/" of paths and "%" of values) and lists; unknown where nobody knows, beyond 2^63 and 10,000
/// items.
PythonObject python_operation(std::string_view sign, const PythonObject& a, const PythonObject& b);

/// `-value`.
PythonObject python_negative(PythonObject value);

/// Whether "==", "!=", "<", "<=", ">", ">=", "in", "not in", "is" or "is not" holds; nothing where
/// nobody knows.
std::optional<bool> python_comparison(std::string_view sign, const PythonObject& a,
                                      const PythonObject& b);

}  // namespace stepwright::framework_files

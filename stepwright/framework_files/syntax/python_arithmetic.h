#pragma once

#include <optional>
#include <string_view>

#include "stepwright/core/tree.h"

namespace stepwright {

/// The result of one of `+-*/` on whole numbers (`/` is the whole quotient), of `+` on two lists,
/// or of a list times a number; nothing for other values, and beyond 2^63 and 10,000 values.
std::optional<Tree> combined_python(char op, const Tree& a, const Tree& b);

/// What `upper`, `lower`, `startswith` and `endswith` of a text give; nothing for other methods and
/// values.
std::optional<Tree> python_method(const Tree& text, std::string_view method, const Tree& arguments);

/// Whether "==", "!=", "<", "<=", ">" or ">=" holds of two texts or of two numbers; nothing where
/// nobody knows.
std::optional<bool> compared_python(std::string_view sign, const Tree& a, const Tree& b);

}  // namespace stepwright

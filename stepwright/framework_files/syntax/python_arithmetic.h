#pragma once

#include <optional>

#include "stepwright/core/tree.h"

namespace stepwright {

/// The result of one of `+-*/` on whole numbers (`/` is the whole quotient), of `+` on two lists,
/// or of a list times a number; nothing for other values, and beyond 2^63 and 10,000 values.
std::optional<Tree> combined_python(char op, const Tree& a, const Tree& b);

}  // namespace stepwright

#pragma once

#include <string>

#include "stepwright/core/tree.h"

namespace stepwright {

/// YAML text that reads back as the same tree: block style, except for what is marked `flow`, what
/// is empty and what is nested deeper than ten levels. Members keep their order; text is quoted
/// only where it must be.
std::string write_yaml(const Tree& tree);

}  // namespace stepwright

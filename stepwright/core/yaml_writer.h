#pragma once

#include <string>

#include "stepwright/core/tree.h"

namespace stepwright {

/// Returns YAML text that reads back as the same tree, in block style. Values marked `flow`, empty
/// ones and those nested deeper than ten levels are in flow style. Members keep their order; text
/// is quoted only where necessary.
std::string write_yaml(const Tree& tree);

}  // namespace stepwright

#pragma once

#include <string>

#include "stepwright/core/tree.h"

namespace stepwright {

/// Returns a tree as YAML text that reads back as the same tree. Members keep their order, one per
/// line; lists and mappings marked `flow`, empty ones, and those nested deeper than ten levels are
/// written on one line. Text is quoted only where necessary.
std::string write_yaml(const DocumentTree& tree);

}  // namespace stepwright

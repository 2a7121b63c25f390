#pragma once

#include <nlohmann/json_fwd.hpp>

#include "stepwright/core/tree.h"

namespace stepwright {

/// Converts a tree to JSON with members in order. Whole numbers stay integers, however they are
/// written (`40e6`). Other numbers become the nearest double; numbers that no double can hold
/// become text.
nlohmann::ordered_json json_from_tree(const DocumentTree& tree);

}  // namespace stepwright

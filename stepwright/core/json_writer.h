#pragma once

#include <nlohmann/json_fwd.hpp>

#include "stepwright/core/tree.h"

namespace stepwright {

/// Returns a tree as JSON, members in order. An integer stays one, however it was written (`40e6`);
/// other numbers become the nearest double, and stay text where there is none.
nlohmann::ordered_json json_of(const Tree& tree);

}  // namespace stepwright

#pragma once

#include <nlohmann/json_fwd.hpp>

#include "stepwright/interleave/interleaving.h"

namespace stepwright::interleave {

/// The answer of `stepwright interleave --json` (`docs/formats.md`) for a pair and its plan.
nlohmann::ordered_json interleaving_json(const StrandPair& pair, const Interleaving& interleaving);

}  // namespace stepwright::interleave

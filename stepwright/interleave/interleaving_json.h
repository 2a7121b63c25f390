#pragma once

#include <nlohmann/json_fwd.hpp>

#include "stepwright/interleave/interleaving.h"

namespace stepwright {

/// What `stepwright interleave --json` prints (`docs/formats.md`) of a pair and its plan.
nlohmann::ordered_json interleaving_json(const StrandPair& pair, const Interleaving& interleaving);

}  // namespace stepwright

#pragma once

#include <nlohmann/json_fwd.hpp>

#include "stepwright/interleave/interleaving.h"

namespace stepwright {

/// What `stepwright interleave --json` prints (`docs/formats.md`).
nlohmann::ordered_json interleaving_json(const Interleaving& interleaving);

}  // namespace stepwright

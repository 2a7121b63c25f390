#pragma once

#include <span>

#include "stepwright/core/embedded.h"

namespace stepwright::cost {

/// Returns the profiles of machines whose collectives were sampled: `profiles/collectives/*.json`
/// of the repository, compiled in.
std::span<const EmbeddedFile> embedded_machines();

}  // namespace stepwright::cost

#pragma once

#include <span>

#include "stepwright/core/embedded.h"

namespace stepwright::cost {

/// Returns the profile files of machines on which collectives were measured
/// (`profiles/collectives/*.json` of the repository), compiled into the program.
std::span<const EmbeddedFile> embedded_machine_profiles();

}  // namespace stepwright::cost

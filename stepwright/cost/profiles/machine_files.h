#pragma once

#include <span>

#include "stepwright/core/embedded.h"

namespace stepwright::cost {

/// The profiles of machines whose collectives were sampled, `profiles/collectives/*.json` of the
/// repository; generated from that folder.
std::span<const EmbeddedFile> embedded_machines();

}  // namespace stepwright::cost

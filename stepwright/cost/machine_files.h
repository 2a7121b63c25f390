#pragma once

#include <span>
#include <string_view>

#include "stepwright/cluster/embedded.h"

namespace stepwright {

/// The profiles of machines whose collectives were sampled, `profiles/collectives/*.json` of the
/// repository; generated from that folder.
std::span<const EmbeddedFile> embedded_machines();

/// The profile of a device or cluster; null when nobody sampled it.
const EmbeddedFile* find_machine_profile(std::string_view name);

}  // namespace stepwright

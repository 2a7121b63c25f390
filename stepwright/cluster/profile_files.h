#pragma once

#include <span>

#include "stepwright/core/embedded.h"

namespace stepwright::cluster {

/// Returns the compiled-in files of `profiles/` (of `devices/`, of `generations/`).
std::span<const EmbeddedFile> embedded_clusters();
std::span<const EmbeddedFile> embedded_devices();
std::span<const EmbeddedFile> embedded_generations();

}  // namespace stepwright::cluster

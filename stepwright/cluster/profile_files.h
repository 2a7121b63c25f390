#pragma once

#include <span>

#include "stepwright/core/embedded.h"

namespace stepwright::cluster {

/// The files of `profiles/`, of `devices/` and of `generations/`, compiled in.
std::span<const EmbeddedFile> embedded_clusters();
std::span<const EmbeddedFile> embedded_devices();
std::span<const EmbeddedFile> embedded_generations();

}  // namespace stepwright::cluster

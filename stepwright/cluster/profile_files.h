#pragma once

#include <span>

#include "stepwright/core/embedded.h"

namespace stepwright::cluster {

/// Returns the files of cluster profiles (or of devices, or of generations) that are compiled into
/// the program.
std::span<const EmbeddedFile> embedded_cluster_files();
std::span<const EmbeddedFile> embedded_devices();
std::span<const EmbeddedFile> embedded_generations();

}  // namespace stepwright::cluster

#pragma once

#include <span>

#include "stepwright/core/embedded.h"

namespace stepwright::framework_files {

/// Files of the room's folders that are compiled in, by folder and name: `axolotl/target`.
std::span<const EmbeddedFile> embedded_tables();

}  // namespace stepwright::framework_files

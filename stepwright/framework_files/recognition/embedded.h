#pragma once

#include <span>
#include <string_view>

#include "stepwright/core/embedded.h"

namespace stepwright::framework_files {

/// Returns the files of this folder that are compiled in, by folder and name: `axolotl/target`.
std::span<const EmbeddedFile> embedded_tables();

/// Returns the text of a compiled-in file, which must exist.
inline std::string_view embedded_text(std::string_view name) {
  return find_embedded(embedded_tables(), name)->text;
}

}  // namespace stepwright::framework_files

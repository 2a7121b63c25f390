#pragma once

#include <span>
#include <string_view>

#include "stepwright/core/embedded.h"

namespace stepwright::framework_files {

/// Files of the room's folders that are compiled in, by folder and name: `axolotl/target`.
std::span<const EmbeddedFile> embedded_tables();

/// The text of a file, which must be there.
inline std::string_view embedded_text(std::string_view name) {
  return find_embedded(embedded_tables(), name)->text;
}

}  // namespace stepwright::framework_files

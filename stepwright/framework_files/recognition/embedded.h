#pragma once

#include <span>
#include <string_view>

#include "stepwright/core/embedded.h"

namespace stepwright::framework_files {

/// Returns the YAML tables and other data files that are compiled into the program, named by folder
/// and file: `axolotl/target`.
std::span<const EmbeddedFile> embedded_tables();

/// Returns the text of a compiled-in data file (`axolotl/target`). The file must exist.
inline std::string_view embedded_file_text(std::string_view name) {
  return find_embedded_file(embedded_tables(), name)->text;
}

}  // namespace stepwright::framework_files

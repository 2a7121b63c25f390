#pragma once

#include <span>
#include <string_view>
#include <vector>

namespace stepwright {

/// A data file of this room, compiled in.
struct EmbeddedFile {
  std::string_view name;  ///< Of the file, without folder and ending.
  std::string_view text;
};

/// The files of `profiles/` and of `devices/`.
std::span<const EmbeddedFile> embedded_clusters();
std::span<const EmbeddedFile> embedded_devices();

/// The names of files, sorted.
std::vector<std::string_view> names_of(std::span<const EmbeddedFile> files);

/// The file of that name; null when there is none.
const EmbeddedFile* find_embedded(std::span<const EmbeddedFile> files, std::string_view name);

}  // namespace stepwright

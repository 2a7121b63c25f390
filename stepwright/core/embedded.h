#pragma once

#include <span>
#include <string_view>
#include <vector>

namespace stepwright {

/// Bytes behind the text of an embedded file that may be read.
inline constexpr std::size_t kEmbeddedRoom = 64;

/// A data file that is compiled in.
struct EmbeddedFile {
  /// Name of the file, without its ending; of several folders: `folder/name`.
  std::string_view name;
  std::string_view text;  ///< Text of the file; `kEmbeddedRoom` blanks follow.
};

/// The text of a file without the blanks behind it.
constexpr std::string_view embedded(std::string_view with_room) {
  return with_room.substr(0, with_room.size() - kEmbeddedRoom);
}

/// The names of files, sorted.
std::vector<std::string_view> names_of(std::span<const EmbeddedFile> files);

/// The file of that name; null when there is none.
const EmbeddedFile* find_embedded(std::span<const EmbeddedFile> files, std::string_view name);

}  // namespace stepwright

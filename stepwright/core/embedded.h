#pragma once

#include <span>
#include <string_view>
#include <vector>

namespace stepwright {

/// Number of readable blanks after the text of an embedded file, because some parsers (simdjson)
/// read beyond the end.
inline constexpr std::size_t kEmbeddedFilePaddingBytes = 64;

/// A data file that is compiled into the program, such as a model or a profile.
struct EmbeddedFile {
  /// Name of the embedded file without its extension; `folder/name` if the files come from several
  /// folders.
  std::string_view name;
  std::string_view text;  ///< Text of the file; padding blanks follow it in memory.
};

/// Returns the text of an embedded file without the `kEmbeddedFilePaddingBytes` blanks at its end.
constexpr std::string_view text_without_padding(std::string_view with_room) {
  return with_room.substr(0, with_room.size() - kEmbeddedFilePaddingBytes);
}

/// Returns the names of embedded files, sorted.
std::vector<std::string_view> embedded_file_names(std::span<const EmbeddedFile> files);

/// Returns the embedded file with this name; null if there is none.
const EmbeddedFile* find_embedded_file(std::span<const EmbeddedFile> files, std::string_view name);

}  // namespace stepwright

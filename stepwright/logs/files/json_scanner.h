#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stepwright/logs/files/byte_source.h"

namespace stepwright::logs {

/// One piece of a large JSON document that is read in pieces: a member of the document itself, or
/// an element of one of its long lists.
struct JsonPiece {
  /// Key of the member; for an element, the key of its list ("" if the whole document is the list).
  std::string_view key;
  /// True if the piece is an element of a list; false if it is a member of the document.
  bool element = false;
  /// Index of the element in its list, from 1; for a piece that is an element.
  std::int64_t number = 0;
  /// Offset of the piece's first byte in the JSON document.
  std::size_t offset = 0;
  /// JSON text of the piece, followed by at least `kSimdjsonPaddingBytes` readable bytes.
  std::string_view text;
};

/// Number of readable bytes that simdjson needs after a text.
inline constexpr std::size_t kSimdjsonPaddingBytes = 64;

/// Passes a JSON document (a mapping or a list) to `take` piece by piece, in bounded memory: each
/// element of the members named in `lists`, every other member whole, or each element of a document
/// that is a list. Only brackets and quotes are checked; `take` parses a piece. Fails with
/// `kInput`, naming the byte, if the document ends too early, is no JSON, has a key twice, is
/// nested deeper than 100 levels, if a member named in `lists` is no list, if another member holds
/// a NUL byte, and if a piece is larger than 64 MiB.
void stream_json_pieces(FileByteReader& source, std::span<const std::string_view> lists,
                        const std::function<void(const JsonPiece&)>& take);

/// The first keys of a JSON document of which only the beginning was read, each once and in order,
/// to recognise its format. For a mapping: its keys and those of the first mapping in it. For a
/// list: the keys of its first element.
struct JsonFirstKeys {
  bool list = false;              ///< True if the JSON document is a list; false: it is a mapping.
  std::vector<std::string> keys;  ///< Keys of the mapping or, for a list, of its first element.
  std::vector<std::string> inner_keys;
};
JsonFirstKeys json_outline(std::string_view beginning);

}  // namespace stepwright::logs

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

/// One piece of a JSON document that is read in pieces: a member of the document itself, or an
/// element of one of its long lists.
struct JsonPiece {
  /// Key of the member; for an element, key of its list ("" if the whole document is the list).
  std::string_view key;
  bool element = false;     ///< True if the piece is an element of a list.
  std::int64_t number = 0;  ///< Index of the element in its list, from 1.
  std::size_t offset = 0;   ///< Offset of the value in the document, in bytes.
  /// Text of the value, followed by at least `kJsonPadding` readable bytes.
  std::string_view text;
};

/// Readable bytes that simdjson needs after a text.
inline constexpr std::size_t kJsonPadding = 64;

/// Passes a JSON document (a mapping or a list) to a function piece by piece, in bounded memory:
/// each element of the members named in `lists`, every other member whole, or each element of a
/// document that is a list. Only brackets and quotes are checked; the receiver parses a piece.
/// Fails with `kInput`, naming the byte, if the document ends too early, is no JSON, has a key
/// twice or is nested deeper than 100 levels, if a member named in `lists` is no list, if another
/// member holds a NUL byte, and if a piece is larger than 64 MiB.
void scan_json(ByteSource& source, std::span<const std::string_view> lists,
               const std::function<void(const JsonPiece&)>& take);

/// The first keys of a document of which only the beginning was read, each once and in order. For a
/// mapping: its own keys and those of the first mapping in it. For a list: the keys of its first
/// element. Reading them never fails.
struct JsonOutline {
  bool list = false;              ///< True if the document is a list.
  std::vector<std::string> keys;  ///< Keys of the mapping, or of the list's first element.
  std::vector<std::string> inner_keys;
};
JsonOutline json_outline(std::string_view beginning);

}  // namespace stepwright::logs

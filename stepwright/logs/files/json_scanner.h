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

/// A value of a JSON document: a member of the document itself, or an element of one of its long
/// lists.
struct JsonPiece {
  /// Key of the member; for an element, of its list: "" when the document is the list.
  std::string_view key;
  bool element = false;     ///< True for an element of a list.
  std::int64_t number = 0;  ///< Number of the element in its list, from 1.
  std::size_t offset = 0;   ///< Offset in the document, in bytes.
  std::string_view text;    ///< Text, with at least `kJsonPadding` readable bytes behind it.
};

/// The bytes that simdjson wants to be able to read behind a text.
inline constexpr std::size_t kJsonPadding = 64;

/// Hands out a document, a mapping or a list, piece by piece in bounded memory: the elements of the
/// members named in `lists`, every other member whole, or the elements of a document that is a
/// list. Looks no deeper than the brackets: whoever takes a piece reads it. Fails with `kInput` and
/// the byte where the document ends too early, is no JSON, says a key twice, is nested deeper than
/// 100 levels, where a member named in `lists` is none or another holds a NUL byte, or a piece is
/// larger than 64 MiB.
void scan_json(ByteSource& source, std::span<const std::string_view> lists,
               const std::function<void(const JsonPiece&)>& take);

/// The first keys of a document of which only the beginning is at hand: of a mapping its own and
/// those of its first mapping, each once, in order; of a list those of its first element. Never
/// fails.
struct JsonOutline {
  bool list = false;              ///< The document is a list.
  std::vector<std::string> keys;  ///< Keys of the mapping, or of the first element.
  std::vector<std::string> inner_keys;
};
JsonOutline json_outline(std::string_view beginning);

}  // namespace stepwright::logs

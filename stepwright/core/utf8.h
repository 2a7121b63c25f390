#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace stepwright {

/// Returns the offset of the first byte that is not well-formed UTF-8; `npos` if there is none.
std::size_t find_bad_utf8(std::string_view text);

/// Returns the number of characters of UTF-8 text, which is its width on a terminal for Latin and
/// Greek letters.
std::size_t count_characters(std::string_view text);

/// Returns the offset of the first character that a terminal or a line reader may interpret instead
/// of showing: control characters (C0, DEL, C1), line separators (U+2028, U+2029), marks that
/// reorder text, U+FFFE and U+FFFF, and malformed bytes; `npos` if there is none.
std::size_t find_unprintable(std::string_view text);

/// Returns a text for a one-line message: control characters and malformed bytes as `\xNN`, other
/// characters that `find_unprintable` finds as `\uNNNN`, cut after about `longest` bytes.
std::string printable(std::string_view text, std::size_t longest = 80);

/// Returns a text of several lines for a terminal: line ends and tabs stay, malformed bytes become
/// `\xNN`, and other characters that `find_unprintable` finds become `\uNNNN`, which JSON reads as
/// the same character.
std::string plain_text(std::string_view text);

}  // namespace stepwright

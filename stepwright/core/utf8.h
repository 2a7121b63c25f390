#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace stepwright {

/// The offset of the first byte that is not well-formed UTF-8; `npos` when all of it is.
std::size_t find_bad_utf8(std::string_view text);

/// Characters of UTF-8 text, which is its width on a terminal for Latin and Greek letters.
std::size_t count_characters(std::string_view text);

/// The offset of the first character that a terminal or a reader of lines may obey instead of
/// showing it: control characters (C0, DEL, C1), separators of lines (U+2028, U+2029), marks that
/// reorder text, U+FFFE and U+FFFF, and malformed bytes; `npos` if there is none.
std::size_t find_unprintable(std::string_view text);

/// Text for a message on one line: control characters and stray bytes as `\xNN`, other characters
/// that `find_unprintable` finds as `\uNNNN`, and cut after about `longest` bytes.
std::string printable(std::string_view text, std::size_t longest = 80);

/// Lines of text for a terminal: whole, with line ends and tabs as they are, stray bytes as `\xNN`
/// and all else that `find_unprintable` finds as `\uNNNN`, which JSON reads as the same character.
std::string plain_text(std::string_view text);

}  // namespace stepwright

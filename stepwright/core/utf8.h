#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace stepwright {

/// Returns the offset, in bytes, of the first byte that is not well-formed UTF-8; `npos` if there
/// is none.
std::size_t find_bad_utf8(std::string_view text);

/// Returns the number of characters of a UTF-8 text, which is its width on a terminal for Latin and
/// Greek letters.
std::size_t count_characters(std::string_view text);

/// Returns the offset, in bytes, of the first character that a terminal might interpret instead of
/// showing it: control characters (C0, DEL, C1), line separators (U+2028, U+2029), marks that
/// reorder text, U+FFFE, U+FFFF and malformed bytes; `npos` if there is none.
std::size_t find_unprintable(std::string_view text);

/// Returns a text in a form that fits in a one-line message: control characters and malformed bytes
/// become `\xNN`, other characters that a terminal might interpret `\uNNNN`. Cut after about
/// `longest` bytes.
std::string one_line_printable_text(std::string_view text, std::size_t longest = 80);

/// Returns a text of several lines in a form that a terminal shows safely: line ends and tabs stay,
/// malformed bytes become `\xNN`, other characters that a terminal might interpret become `\uNNNN`,
/// which JSON reads as the same character.
std::string terminal_safe_text(std::string_view text);

}  // namespace stepwright

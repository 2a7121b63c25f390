#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace stepwright {

/// The offset of the first byte that is not well-formed UTF-8; `npos` when all of it is.
std::size_t find_bad_utf8(std::string_view text);

/// Characters of UTF-8 text, which is its width on a terminal for Latin and Greek letters.
std::size_t count_characters(std::string_view text);

/// Text for a message: control characters and stray bytes as `\xNN`, marks that reorder text as
/// `\uNNNN`, and cut after about `longest` bytes.
std::string printable(std::string_view text, std::size_t longest = 80);

}  // namespace stepwright

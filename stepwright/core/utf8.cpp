#include "stepwright/core/utf8.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

namespace stepwright {
namespace {

bool continues(char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; }

/// Returns the number of bytes of the first character of `text`; 0: it is malformed.
std::size_t character_size(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  if (lead < 0x80) return 1;
  const std::size_t size = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < size) return 0;
  if (!std::ranges::all_of(text.substr(1, size - 1), continues)) return 0;
  const auto second = static_cast<unsigned char>(text[1]);
  if (lead == 0xE0 && second < 0xA0) return 0;  // Overlong.
  if (lead == 0xED && second > 0x9F) return 0;  // Surrogates.
  if (lead == 0xF0 && second < 0x90) return 0;  // Overlong.
  if (lead == 0xF4 && second > 0x8F) return 0;  // Beyond U+10FFFF.
  return size;
}

char32_t code_point(std::string_view character) {
  const auto lead = static_cast<unsigned char>(character[0]);
  if (character.size() == 1) return lead;
  char32_t point = lead & (0x7FU >> character.size());
  for (const char c : character.substr(1))
    point = (point << 6U) | (static_cast<unsigned char>(c) & 0x3FU);
  return point;
}

/// True for marks that make a terminal show text in another order (Unicode TR 9).
bool reorders(char32_t point) {
  return point == 0x061C || point == 0x200E || point == 0x200F ||
         (point >= 0x202A && point <= 0x202E) || (point >= 0x2066 && point <= 0x2069);
}

bool is_unprintable(char32_t point) {
  const bool control = point < 0x20 || (point >= 0x7F && point < 0xA0);
  const bool ends_line = point == 0x2028 || point == 0x2029;
  return control || ends_line || reorders(point) || point == 0xFFFE || point == 0xFFFF;
}

/// One character of a text, or one malformed byte.
struct Character {
  std::string_view bytes;
  char32_t point = 0;  ///< Code point, or the byte itself if it is malformed.
  bool malformed = false;
};

Character character_at(std::string_view text, std::size_t at) {
  const std::size_t size = character_size(text.substr(at, 4));
  if (size == 0) return {text.substr(at, 1), static_cast<unsigned char>(text[at]), true};
  const std::string_view bytes = text.substr(at, size);
  return {bytes, code_point(bytes), false};
}

}  // namespace

std::size_t find_bad_utf8(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t size = character_size(text.substr(at, 4));
    if (size == 0) return at;
    at += size;
  }
  return std::string_view::npos;
}

std::size_t count_characters(std::string_view text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return !continues(c); }));
}

std::size_t find_unprintable(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const Character one = character_at(text, at);
    if (one.malformed || is_unprintable(one.point)) return at;
    at += one.bytes.size();
  }
  return std::string_view::npos;
}

std::string one_line_printable_text(std::string_view text, std::size_t longest) {
  const bool cut = text.size() > longest;
  if (cut) {
    while (longest > 0 && continues(text[longest])) --longest;
    text = text.substr(0, longest);
  }
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const Character one = character_at(text, at);
    const auto point = static_cast<std::uint32_t>(one.point);
    at += one.bytes.size();
    if (one.malformed || point < 0x20 || point == 0x7F) {
      out += fmt::format("\\x{:02x}", point);
    } else if (is_unprintable(one.point)) {
      out += fmt::format("\\u{:04x}", point);
    } else {
      out += one.bytes;
    }
  }
  return cut ? out + "..." : out;
}

std::string terminal_safe_text(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const Character one = character_at(text, at);
    const auto point = static_cast<std::uint32_t>(one.point);
    at += one.bytes.size();
    if (one.malformed) {
      out += fmt::format("\\x{:02x}", point);
    } else if (is_unprintable(one.point) && point != '\n' && point != '\t') {
      out += fmt::format("\\u{:04x}", point);
    } else {
      out += one.bytes;
    }
  }
  return out;
}

}  // namespace stepwright

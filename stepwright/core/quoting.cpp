#include "stepwright/core/quoting.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "stepwright/core/scalar.h"
#include "stepwright/core/utf8.h"

namespace stepwright {
namespace {

/// Calls `plain` with each run of printable characters, and `other` with the text that starts at
/// each unprintable character; `other` returns how many bytes it used, at least one.
template <class Plain, class Other>
void each_part(std::string_view text, Plain plain, Other other) {
  while (!text.empty()) {
    const std::size_t end = std::min(find_unprintable(text), text.size());
    plain(text.substr(0, end));
    text.remove_prefix(end);
    if (!text.empty()) text.remove_prefix(other(text));
  }
}

void append_escaped(std::string& out, std::string_view text, std::string_view special) {
  for (const char c : text) {
    if (special.find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
}

/// Returns the escape "\n" or "\t" for a line end or tab; empty for other characters.
std::string_view short_escape(char c) { return c == '\n' ? "\\n" : c == '\t' ? "\\t" : ""; }

/// Quotes a text as "$'...'", with unprintable bytes as three octal digits.
std::string in_dollar_quotes(std::string_view text) {
  std::string quoted = "$'";
  each_part(
      text, [&](std::string_view plain) { append_escaped(quoted, plain, "'\\"); },
      // Always one byte: the following bytes of the character become malformed on their own and are
      // escaped in turn.
      [&](std::string_view rest) -> std::size_t {
        const std::string_view brief = short_escape(rest.front());
        quoted += brief.empty() ? fmt::format("\\{:03o}", static_cast<unsigned char>(rest.front()))
                                : std::string(brief);
        return 1;
      });
  return quoted + "'";
}

/// True if the only unprintable characters of a text are line ends and tabs.
bool is_lines(std::string_view text) {
  bool lines = true;
  each_part(
      text, [](std::string_view) {},
      [&](std::string_view rest) -> std::size_t {
        lines = lines && !short_escape(rest.front()).empty();
        return 1;
      });
  return lines;
}

/// Returns "\x1b" if bytes may be escaped that way, which keeps YAML keys short; otherwise
/// "\u001b".
std::string escape_of(std::string_view character, bool in_bytes) {
  std::uint32_t point = static_cast<unsigned char>(character.front());
  if (character.size() > 1) point &= 0x7FU >> character.size();
  for (const char c : character.substr(1))
    point = (point << 6U) | (static_cast<unsigned char>(c) & 0x3FU);
  return in_bytes && point < 0x100 ? fmt::format("\\x{:02x}", point)
                                   : fmt::format("\\u{:04x}", point);
}

/// Returns the number of bytes of a text's first character; 0: it is malformed.
std::size_t size_of_first(std::string_view text) {
  constexpr std::size_t kLongest = 4;
  for (std::size_t size = 1; size <= std::min(kLongest, text.size()); ++size) {
    if (find_bad_utf8(text.substr(0, size)) == std::string_view::npos) return size;
  }
  return 0;
}

/// Returns a literal that Python and YAML read alike; without byte escapes, TOML and JSON do too.
std::string in_double_quotes(std::string_view text, bool in_bytes) {
  std::string quoted = "\"";
  each_part(
      text, [&](std::string_view plain) { append_escaped(quoted, plain, "\"\\"); },
      [&](std::string_view rest) -> std::size_t {
        const std::size_t size = size_of_first(rest);
        const std::string_view brief = short_escape(rest.front());
        quoted += size == 0       ? "\xEF\xBF\xBD"
                  : brief.empty() ? escape_of(rest.substr(0, size), in_bytes)
                                  : std::string(brief);
        return std::max<std::size_t>(size, 1);
      });
  return quoted + '"';
}

}  // namespace

std::string in_shell_quotes(std::string_view text) {
  if (!is_lines(text)) return in_dollar_quotes(text);
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

std::string quoted_for_shell(std::string_view word) {
  static constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%";
  const bool plain = !word.empty() && word.find_first_not_of(kPlain) == std::string_view::npos;
  return plain ? std::string(word) : in_shell_quotes(word);
}

std::string quoted_for_shell(std::span<const std::string> words) {
  std::string text;
  for (const std::string& word : words) {
    const bool assigns = text.empty() && word.find('=') != std::string::npos;
    text += text.empty() ? "" : " ";
    text += assigns ? in_shell_quotes(word) : quoted_for_shell(word);
  }
  return text;
}

std::string quoted_for_python(std::string_view text) { return in_double_quotes(text, true); }
std::string quoted_for_toml(std::string_view text) { return in_double_quotes(text, false); }

std::string quoted_for_yaml(std::string_view text) {
  return needs_no_yaml_quotes(text) ? std::string(text) : in_double_quotes(text, true);
}

std::string as_comment_line(std::string_view text) {
  return text.empty() ? "#" : "# " + one_line_printable_text(text, std::string_view::npos);
}

}  // namespace stepwright

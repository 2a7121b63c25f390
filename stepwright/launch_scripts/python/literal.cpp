#include "stepwright/launch_scripts/python/literal.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "stepwright/core/trimmed.h"
#include "stepwright/launch_scripts/python/source.h"

namespace stepwright::launch_scripts {
namespace {

using PartKind = PythonNode::Kind;

/// Returns the text that a backslash followed by `c` means.
std::string escaped(char c) {
  switch (c) {
    case 'n': return "\n";
    case 't': return "\t";
    case '\n': return "";
    case '\\':
    case '"':
    case '\'': return {c};
    default: return {'\\', c};
  }
}

/// Splits the contents of a string literal into pieces and holes.
class Pieces {
 public:
  Pieces(std::string_view inside, const PythonPosition& place, PythonNode& into)
      : inside_(inside), place_(place), line_(place.line), into_(into) {}

  /// Splits the contents; false if a hole never closes.
  bool take(bool raw, bool filled) {
    for (std::size_t i = 0; i < inside_.size(); ++i) {
      const char c = inside_[i];
      const char next = i + 1 < inside_.size() ? inside_[i + 1] : '\0';
      if (c == '\\' && !raw && next != '\0') {
        ++i;
        if (next == '\n') end_line();
        plain_ += escaped(next);
      } else if (filled && (c == '{' || c == '}') && next == c) {
        plain_ += c;
        ++i;
      } else if (filled && c == '{') {
        const std::size_t close = closing_python_bracket_position(inside_, i);
        if (close >= inside_.size()) return false;
        hole(inside_.substr(i + 1, close - i - 1));
        i = close;
      } else {
        plain_ += c;
        if (c == '\n') end_line();
      }
    }
    end_piece();
    return true;
  }

 private:
  void end_piece() {
    if (plain_.empty()) return;
    into_.parts.push_back({.kind = PartKind::kPiece, .line = line_, .word = plain_});
    plain_.clear();
  }
  void end_line() {
    end_piece();
    ++line_;
  }

  /// Adds a replacement field, such as "name!r:>3".
  void hole(std::string_view said) {
    end_piece();
    const std::size_t colon = find_python_operator(said, ":");
    std::string_view value = said.substr(0, colon);
    PythonNode made{.kind = PartKind::kHole, .line = line_};
    if (colon < said.size()) made.word = said.substr(colon + 1);
    if (value.size() > 2 && value[value.size() - 2] == '!') value.remove_suffix(2);
    made.text = trimmed(value);
    made.parts.push_back(parse_python_expression(made.text, {line_, place_.file, place_.depth}));
    into_.parts.push_back(std::move(made));
  }

  std::string_view inside_;
  const PythonPosition& place_;
  std::uint32_t line_;
  PythonNode& into_;
  std::string plain_;
};

}  // namespace

PythonNode parse_python_number(std::string_view text) {
  if (text.starts_with("...")) return {.text = text.substr(0, 3)};
  std::size_t end = 0;
  const auto exponent = [&] { return end > 0 && (text[end - 1] == 'e' || text[end - 1] == 'E'); };
  while (end < text.size() && (is_python_name_char(text[end]) || text[end] == '.' ||
                               ((text[end] == '-' || text[end] == '+') && exponent()))) {
    ++end;
  }
  PythonNode made{.kind = PartKind::kNumber, .text = text.substr(0, end)};
  std::ranges::remove_copy(made.text, std::back_inserter(made.word), '_');
  return made;
}

bool starts_python_string(std::string_view text) {
  const std::size_t quote = text.find_first_not_of("rRuUbBfF");
  return quote < 3 && quote < text.size() && (text[quote] == '"' || text[quote] == '\'');
}

std::size_t parse_python_string(std::string_view text, std::size_t at, const PythonPosition& place,
                                PythonNode& into) {
  const std::size_t begin = text.find_first_of("\"'", at);
  const std::string_view letters = text.substr(at, begin - at);
  const std::size_t end = end_of_python_string(text, begin);
  if (end > text.size()) return end;
  const std::string_view quoted = text.substr(begin, end - begin);
  const bool triple = quoted.size() >= 6 && quoted[1] == quoted[0] && quoted[2] == quoted[0];
  const std::size_t width = triple ? 3 : 1;
  Pieces pieces(quoted.substr(width, quoted.size() - 2 * width), place, into);
  const bool raw = letters.find_first_of("rR") != std::string_view::npos;
  const bool filled = letters.find_first_of("fF") != std::string_view::npos;
  return pieces.take(raw, filled) ? end : text.size() + 1;
}

}  // namespace stepwright::launch_scripts

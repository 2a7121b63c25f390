#include "stepwright/launch_scripts/shell/words.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <utility>

#include "stepwright/core/error.h"
#include "stepwright/core/utf8.h"
#include "stepwright/launch_scripts/text.h"

namespace stepwright::launch_scripts {
namespace {

using PieceKind = ShellWordPiece::Kind;

void add_text(UnexpandedShellWord& term, bool quoted, std::string_view text) {
  const bool joins = !term.pieces.empty() && term.pieces.back().kind == PieceKind::kText &&
                     term.pieces.back().quoted == quoted;
  if (joins) {
    term.pieces.back().text += text;
  } else {
    term.pieces.push_back({PieceKind::kText, quoted, std::string(text)});
  }
}

}  // namespace

std::string wrap_unknown_script_text(std::string_view written) {
  return kUnknownMarkBegin + text_without_placeholders(written) + kUnknownMarkEnd;
}

bool is_fully_known_script_text(std::string_view text) {
  return text.find(kUnknownMarkBegin) == std::string_view::npos;
}

std::string text_without_placeholders(std::string_view text) {
  std::string plain(text);
  std::erase_if(plain, [](char c) { return c == kUnknownMarkBegin || c == kUnknownMarkEnd; });
  return plain;
}

std::string without_unknown_parts(std::string_view text) {
  std::string plain;
  bool open = false;
  for (const char c : text) {
    if (c == kUnknownMarkBegin) open = true;
    if (!open) plain += c;
    if (c == kUnknownMarkEnd) open = false;
  }
  return plain;
}

std::vector<std::string> unknown_parts_of(std::string_view text) {
  std::vector<std::string> places;
  for (std::size_t at = text.find(kUnknownMarkBegin); at != std::string_view::npos;
       at = text.find(kUnknownMarkBegin, at + 1)) {
    places.emplace_back(text.substr(at + 1, text.find(kUnknownMarkEnd, at) - at - 1));
  }
  return places;
}

std::optional<std::int64_t> shell_integer(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return integer_from_digits(text);
}

bool is_one_of(std::string_view word, std::span<const std::string_view> words) {
  return std::ranges::find(words, word) != words.end();
}

bool is_shell_name_char(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

bool is_shell_name(std::string_view text) {
  return !text.empty() && std::isdigit(static_cast<unsigned char>(text.front())) == 0 &&
         std::ranges::all_of(text, is_shell_name_char);
}

UnexpandedShellWord parse_as_double_quoted(std::string_view text, const std::string& name,
                                           std::uint32_t line) {
  return ShellWordSplitter(text, name, line).read_rest_as_quoted();
}

UnexpandedShellWord parse_shell_word(std::string_view text, const std::string& name,
                                     std::uint32_t line) {
  return ShellWordSplitter(text, name, line).word();
}

void ShellWordSplitter::fail(std::uint32_t line, std::string_view what) const {
  fail_input(fmt::format("{}:{}: {}", name_, line, what));
}

void ShellWordSplitter::fail_unexpected_character() const {
  std::string_view word = letters_at_current_position();
  if (word.empty()) word = text_.substr(std::min(at_, text_.size()), 1);
  if (at_end()) fail(line_, "the file ends in the middle of a command");
  if (word == "\n") fail(line_, "the line ends in the middle of a command");
  fail(line_, fmt::format("'{}' is not allowed here by a shell", one_line_printable_text(word)));
}

std::string ShellWordSplitter::script_text_from_position(std::size_t begin) const {
  std::string source(text_.substr(begin, at_ - begin));
  const std::size_t last = source.find_last_not_of(" \t\r\n;");
  source.resize(last == std::string::npos ? 0 : last + 1);
  std::string line;
  for (const char c : text_without_placeholders(source)) {
    const bool blank = c == '\n' || c == '\r' || c == '\t' || c == ' ';
    if (line.ends_with('\\') && c == '\n') line.pop_back();
    if (!blank) line += c;
    if (blank && !line.ends_with(' ')) line += ' ';
  }
  return line;
}

char ShellWordSplitter::next() {
  const char c = text_[at_++];
  if (c == '\n') {
    ++line_;
    if (behind_heredocs_ > 0) {
      const std::size_t behind = std::exchange(behind_heredocs_, 0);
      line_ +=
          static_cast<std::uint32_t>(std::ranges::count(text_.substr(at_, behind - at_), '\n'));
      at_ = behind;
    }
  }
  return c;
}

void ShellWordSplitter::skip(std::size_t characters) {
  for (std::size_t i = 0; i < characters && !at_end(); ++i) next();
}

void ShellWordSplitter::skip_blanks() {
  while (!at_end()) {
    const char c = here();
    if (c == ' ' || c == '\t' || c == '\r') {
      next();
    } else if (starts("\\\n")) {
      skip(2);
    } else if (starts("\\\r\n")) {
      skip(3);
    } else if (c == '#') {
      while (!at_end() && here() != '\n') next();
    } else {
      return;
    }
  }
}

void ShellWordSplitter::skip_blank_lines() {
  skip_blanks();
  while (here() == '\n') {
    next();
    skip_blanks();
  }
}

bool ShellWordSplitter::is_word_end_character(char c) {
  return std::string_view(" \t\r\n;&|()<>").find(c) != std::string_view::npos;
}

std::string_view ShellWordSplitter::letters_at_current_position() const {
  std::size_t end = at_;
  while (end < text_.size() && !is_word_end_character(text_[end])) ++end;
  return text_.substr(at_, end - at_);
}

std::size_t ShellWordSplitter::user_placeholder_length() const {
  if (here() != '<' || std::isalpha(static_cast<unsigned char>(here(1))) == 0) return 0;
  const std::string_view left = text_.substr(at_ + 1);
  const std::size_t end = left.find_first_of("<>|;&()$`\"'\\\n");
  if (end >= left.size() || left[end] != '>' || left[end - 1] == ' ') return 0;
  // Excludes redirections such as `<in 2>&1` and `<in >out`.
  const char behind = end + 1 < left.size() ? left[end + 1] : '\n';
  const bool descriptor = end > 1 && left[end - 2] == ' ' &&
                          std::isdigit(static_cast<unsigned char>(left[end - 1])) != 0;
  return !descriptor && std::string_view(" \t\n").find(behind) != std::string_view::npos ? end + 2
                                                                                         : 0;
}

UnexpandedShellWord ShellWordSplitter::word() {
  UnexpandedShellWord term{.line = line_};
  if (const std::size_t length = user_placeholder_length(); length > 0) {
    add_text(term, true, text_.substr(at_, length));
    skip(length);
    return term;
  }
  while (!at_end()) {
    const char c = here();
    const bool process = (c == '<' || c == '>') && here(1) == '(';
    // A group `@(a|b)` of a pattern.
    const bool group = c == '(' && !term.pieces.empty() &&
                       term.pieces.back().kind == PieceKind::kText &&
                       std::string_view("@?*+!").find(text_[at_ - 1]) != std::string_view::npos;
    if (process) {
      skip(2);
      term.pieces.push_back({PieceKind::kCommand, false, read_text_to_matching_bracket('(', ')')});
    } else if (group) {
      next();
      add_text(term, false, "(" + read_text_to_matching_bracket('(', ')') + ")");
    } else if (is_word_end_character(c)) {
      break;
    } else {
      piece(term, false);
    }
  }
  return term;
}

void ShellWordSplitter::piece(UnexpandedShellWord& term, bool quoted) {
  const char c = here();
  if (c == kUnknownMarkBegin) return open_place(term);
  if (c == '$') return dollar(term, quoted);
  if (c == '`') {
    next();
    std::string inner;
    while (!at_end() && here() != '`') inner += next();
    if (at_end()) fail(term.line, "'`' never closes");
    next();
    term.pieces.push_back({PieceKind::kCommand, quoted, std::move(inner)});
    return;
  }
  if (quoted) return take_character(term, true);
  if (c == '\'') return single_quoted(term);
  if (c == '"') return double_quoted(term);
  if (c == '\\') {
    next();
    if (at_end()) return;
    if (here() == '\r' && here(1) == '\n') next();
    const char escaped = next();
    if (escaped != '\n') add_text(term, true, std::string_view(&escaped, 1));
    return;
  }
  take_character(term, false);
}

void ShellWordSplitter::take_character(UnexpandedShellWord& term, bool quoted) {
  const char c = next();
  add_text(term, quoted, std::string_view(&c, 1));
}

void ShellWordSplitter::open_place(UnexpandedShellWord& term) {
  const std::size_t end = std::min(text_.find(kUnknownMarkEnd, at_), text_.size() - 1);
  std::string place;
  while (at_ <= end) place += next();
  add_text(term, true, place);
}

void ShellWordSplitter::single_quoted(UnexpandedShellWord& term) {
  const std::uint32_t line = line_;
  next();
  add_text(term, true, "");
  std::string inner;
  while (!at_end() && here() != '\'') inner += next();
  if (at_end()) fail(line, "a single quote never closes");
  next();
  add_text(term, true, inner);
}

/// Returns the byte of an octal number of at most three digits, the first of which was read.
char ShellWordSplitter::octal(char first) {
  constexpr std::size_t kMostDigits = 3;
  int value = first - '0';
  for (std::size_t i = 1; i < kMostDigits && !at_end() && here() >= '0' && here() <= '7'; ++i) {
    value = value * 8 + (next() - '0');
  }
  return static_cast<char>(value);
}

/// Reads the rest of `$'...'` after its `$`.
void ShellWordSplitter::escaped_quoted(UnexpandedShellWord& term) {
  const std::uint32_t line = line_;
  next();
  std::string inner;
  while (!at_end() && here() != '\'') {
    char c = next();
    if (c == '\\' && !at_end()) {
      c = next();
      if (c == 'n') c = '\n';
      if (c == 't') c = '\t';
      if (c >= '0' && c <= '7') c = octal(c);
    }
    inner += c;
  }
  if (at_end()) fail(line, "a single quote never closes");
  next();
  add_text(term, true, inner);
}

void ShellWordSplitter::double_quoted(UnexpandedShellWord& term) {
  const std::uint32_t line = line_;
  next();
  add_text(term, true, "");
  while (!at_end() && here() != '"') {
    if (here() == '\\' && at_ + 1 < text_.size()) {
      next();
      const char c = next();
      if (std::string_view("\"\\$`\n").find(c) == std::string_view::npos) {
        add_text(term, true, "\\");
      }
      if (c != '\n') add_text(term, true, std::string_view(&c, 1));
    } else {
      piece(term, true);
    }
  }
  if (at_end()) fail(line, "a double quote never closes");
  next();
}

UnexpandedShellWord ShellWordSplitter::read_rest_as_quoted() {
  UnexpandedShellWord term{.line = line_};
  add_text(term, true, "");
  while (!at_end()) {
    const bool escape = here() == '\\' &&
                        std::string_view("\\$`\n").find(here(1)) != std::string_view::npos &&
                        here(1) != '\0';
    if (escape) {
      next();
      const char c = next();
      if (c != '\n') add_text(term, true, std::string_view(&c, 1));
    } else {
      piece(term, true);
    }
  }
  return term;
}

void ShellWordSplitter::dollar(UnexpandedShellWord& term, bool quoted) {
  next();
  if (starts("((")) {
    const std::size_t back = at_;
    const std::uint32_t line = line_;
    skip(2);
    std::string inner = read_text_to_matching_bracket('(', ')');
    if (here() == ')') {
      next();
      term.pieces.push_back({PieceKind::kArithmetic, quoted, std::move(inner)});
      return;
    }
    at_ = back;
    line_ = line;
  }
  if (here() == '(') {
    next();
    term.pieces.push_back({PieceKind::kCommand, quoted, read_text_to_matching_bracket('(', ')')});
    return;
  }
  if (here() == '{') {
    next();
    term.pieces.push_back({PieceKind::kVariable, quoted, read_text_to_matching_bracket('{', '}')});
    return;
  }
  if (here() == '\'' && !quoted) return escaped_quoted(term);
  if (here() == '"' && !quoted) return;
  std::string name;
  if (std::isdigit(static_cast<unsigned char>(here())) != 0 ||
      (here() != '\0' && std::string_view("@*#?$!-").find(here()) != std::string_view::npos)) {
    name = next();
  } else {
    while (is_shell_name_char(here())) name += next();
  }
  if (name.empty()) return add_text(term, quoted, "$");
  term.pieces.push_back({PieceKind::kVariable, quoted, std::move(name)});
}

void ShellWordSplitter::skip_quoted(std::string& inner, char quote) {
  while (!at_end()) {
    const char c = next();
    inner += c;
    if (c == quote) return;
    if (c == '\\' && quote == '"' && !at_end()) inner += next();
  }
}

std::string ShellWordSplitter::read_text_to_matching_bracket(char open, char close) {
  const std::uint32_t line = line_;
  std::string inner;
  for (int depth = 1; !at_end();) {
    const char c = next();
    if (c == open) ++depth;
    if (c == close && --depth == 0) return inner;
    inner += c;
    if (c == '\\' && !at_end()) {
      inner += next();
    } else if (c == '"' || (c == '\'' && open == '(')) {
      skip_quoted(inner, c);
    }
  }
  fail(line, fmt::format("'{}' never closes", open));
}

UnexpandedShellWord ShellWordSplitter::read_heredoc() {
  const bool tabs = here() == '-';
  if (tabs) next();
  skip_blanks();
  const std::uint32_t line = line_;
  const UnexpandedShellWord ending = word();
  std::string last;
  for (const ShellWordPiece& piece : ending.pieces) last += piece.text;
  const bool literal = ending.unquoted_plain_text().empty();
  std::size_t begin = behind_heredocs_;
  if (begin == 0) begin = std::min(text_.find('\n', at_), text_.size() - 1) + 1;
  std::string body;
  std::size_t at = begin;
  while (at < text_.size()) {
    const std::size_t end = std::min(text_.find('\n', at), text_.size());
    std::string_view one = text_.substr(at, end - at);
    if (one.ends_with('\r')) one.remove_suffix(1);
    while (tabs && one.starts_with('\t')) one.remove_prefix(1);
    at = std::min(end + 1, text_.size());
    if (one == last) break;
    body += one;
    body += '\n';
  }
  behind_heredocs_ = std::max<std::size_t>(at, 1);
  if (!literal) return parse_as_double_quoted(body, name_, line + 1);
  UnexpandedShellWord term{.line = line + 1};
  add_text(term, true, body);
  return term;
}

}  // namespace stepwright::launch_scripts

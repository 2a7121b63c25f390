#include "stepwright/launch_scripts/shell/expansion.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include "stepwright/launch_scripts/shell/pattern.h"

namespace stepwright::launch_scripts {
namespace {

using PieceKind = ShellWordPiece::Kind;
constexpr int kDeepestVariables = 50;
/// Longest text in which matches of a pattern are replaced.
constexpr std::size_t kLongestReplaced = 20'000;
constexpr std::int64_t kMostElements = 10'000;

std::string written(const ShellWordPiece& piece) {
  if (piece.kind == PieceKind::kCommand) return "$(" + piece.text + ")";
  if (piece.kind == PieceKind::kArithmetic) return "$((" + piece.text + "))";
  return piece.text.size() == 1 || is_shell_name(piece.text) ? "$" + piece.text
                                                             : "${" + piece.text + "}";
}

/// Joins pieces of text into words.
class WordMaker {
 public:
  WordMaker(std::uint32_t file, std::uint32_t line) : file_(file), line_(line) {}

  /// Adds text to the current word. The word's line is that of `from` if it comes from this file.
  void add(std::string_view text, const ShellWord& from) {
    if (!in_word_) {
      word_ = {.line = from.file == file_ && from.line > 0 ? from.line : line_, .file = file_};
      in_word_ = true;
    }
    word_.text += text;
  }
  void split(const ShellWord& from) {
    const auto blank = [](char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; };
    if (!from.text.empty() && blank(from.text.front())) end();
    const std::vector<ShellWord> parts = split_word_at_blanks(from);
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (i > 0) end();
      add(parts[i].text, parts[i]);
    }
    if (!from.text.empty() && blank(from.text.back())) end();
  }
  void end() {
    if (std::exchange(in_word_, false)) words_.push_back(std::move(word_));
  }
  std::vector<ShellWord> take() {
    end();
    return std::move(words_);
  }

 private:
  std::uint32_t file_, line_;
  bool in_word_ = false;
  ShellWord word_;
  std::vector<ShellWord> words_;
};

/// Returns the words that `a{1..4}` or `{a,b}` expands to; other words expand to themselves.
std::vector<std::string> braces(std::string_view text) {
  const std::size_t open = text.find('{');
  const std::size_t close = text.find('}', std::min(open, text.size()));
  if (open == std::string_view::npos || close == std::string_view::npos) {
    return {std::string(text)};
  }
  const std::string front(text.substr(0, open));
  const std::string back(text.substr(close + 1));
  const std::string_view inner = text.substr(open + 1, close - open - 1);
  std::vector<std::string> all;
  if (const std::size_t dots = inner.find(".."); dots != std::string_view::npos) {
    const auto low = shell_integer(inner.substr(0, dots));
    const auto high = shell_integer(inner.substr(dots + 2));
    if (!low || !high || *high < *low || *low < 0 || *high - *low >= kMostElements) {
      return {std::string(text)};
    }
    for (std::int64_t i = *low; i <= *high; ++i) all.push_back(front + std::to_string(i) + back);
    return all;
  }
  if (inner.find(',') == std::string_view::npos) return {std::string(text)};
  for (std::size_t begin = 0; begin <= inner.size();) {
    const std::size_t end = std::min(inner.find(',', begin), inner.size());
    all.push_back(front + std::string(inner.substr(begin, end - begin)) + back);
    begin = end + 1;
  }
  return all;
}

std::string with_case(std::string text, std::string_view operation) {
  const auto turn = [&](char c) {
    const auto letter = static_cast<unsigned char>(c);
    return static_cast<char>(operation.front() == ',' ? std::tolower(letter)
                                                      : std::toupper(letter));
  };
  const std::size_t end =
      operation.size() > 1 ? text.size() : std::min<std::size_t>(1, text.size());
  for (std::size_t i = 0; i < end; ++i) text[i] = turn(text[i]);
  return text;
}

/// The mark (`#` or `!`), name, index and operation inside `${...}`.
struct ShellParameter {
  char mark = '\0';
  std::string name;
  std::optional<std::string> index;
  std::string_view operation;
};

ShellParameter parameter_of(std::string_view text) {
  ShellParameter made;
  if (text.size() > 1 && (text.front() == '#' || text.front() == '!')) {
    made.mark = text.front();
    text.remove_prefix(1);
  }
  std::size_t end = 0;
  while (end < text.size() && is_shell_name_char(text[end])) ++end;
  if (end == 0) end = std::min<std::size_t>(1, text.size());
  made.name = text.substr(0, end);
  text.remove_prefix(end);
  if (text.starts_with('[')) {
    const std::size_t close = std::min(text.find(']'), text.size() - 1);
    made.index = text.substr(1, close - 1);
    text.remove_prefix(close + 1);
  }
  made.operation = text;
  return made;
}

}  // namespace

ShellExpansion::ShellExpansion(ShellVariables& variables, ShellWorkBudget& budget,
                               const std::vector<std::string>& files, Substitute substitute)
    : variables_(variables), budget_(budget), files_(files), substitute_(std::move(substitute)) {}

std::vector<ShellWord> ShellExpansion::expand_to_shell_words(const UnexpandedShellWord& term) {
  WordMaker maker(file_, term.line);
  const ShellWord here{.line = term.line, .file = file_};
  if (term.unquoted_plain_text().find('{') != std::string_view::npos) {
    for (const std::string& word : braces(term.unquoted_plain_text())) {
      maker.end();
      maker.add(word, here);
    }
  } else {
    for (const ShellWordPiece& piece : term.pieces) {
      if (piece.kind == PieceKind::kText) {
        maker.add(piece.text, here);
        continue;
      }
      const Filled filled = fill(piece, term.line);
      if (piece.quoted && !filled.each) {
        const ShellWord from = filled.words.size() == 1 ? filled.words.front() : here;
        maker.add(join_shell_words(filled.words), from);
        continue;
      }
      for (std::size_t i = 0; i < filled.words.size(); ++i) {
        if (i > 0) maker.end();
        if (piece.quoted) maker.add(filled.words[i].text, filled.words[i]);
        if (!piece.quoted) maker.split(filled.words[i]);
      }
    }
  }
  std::vector<ShellWord> made = maker.take();
  for (const ShellWord& word : made) budget_.count_expanded_word(word.text, {file_, term.line});
  return made;
}

std::vector<ShellWord> ShellExpansion::expand_to_shell_words(
    const std::vector<UnexpandedShellWord>& terms) {
  std::vector<ShellWord> all;
  for (const UnexpandedShellWord& term : terms) {
    for (ShellWord& word : expand_to_shell_words(term)) all.push_back(std::move(word));
  }
  return all;
}

std::string ShellExpansion::text(const UnexpandedShellWord& term) {
  std::string all;
  for (const ShellWordPiece& piece : term.pieces) {
    all += piece.kind == PieceKind::kText ? piece.text
                                          : join_shell_words(fill(piece, term.line).words);
  }
  budget_.count_expanded_word(all, {file_, term.line});
  return all;
}

std::string ShellExpansion::expand_to_shell_pattern(const UnexpandedShellWord& term) {
  std::string all;
  for (const ShellWordPiece& piece : term.pieces) {
    const bool plain = piece.kind == PieceKind::kText;
    const std::string one = plain ? piece.text : join_shell_words(fill(piece, term.line).words);
    all += piece.quoted ? escape_shell_pattern(one) : one;
  }
  budget_.count_expanded_word(all, {file_, term.line});
  return all;
}

std::optional<ShellArithmeticResult> ShellExpansion::value_of_arithmetic(const std::string& text,
                                                                         std::uint32_t line) {
  const ShellArithmeticVariables names{
      [&](const std::string& name) {
        std::string value = variables_.text(name).value_or(wrap_unknown_script_text("$" + name));
        if (open_name_.empty() && !is_fully_known_script_text(value)) open_name_ = name;
        return value;
      },
      [&](const std::string& name, std::int64_t value) {
        variables_.set_text(name, std::to_string(value), {file_, line});
      }};
  const std::string inner = inner_text(text, line);
  if (const auto open = unknown_parts_of(inner); open_name_.empty() && !open.empty()) {
    const bool named = open.front().starts_with('$') && is_shell_name(open.front().substr(1));
    open_name_ = open.front().substr(named ? 1 : 0);
  }
  return shell_arithmetic_value(inner, names);
}

ShellExpansion::Filled ShellExpansion::one(std::string text, std::uint32_t line) const {
  return {{{.text = std::move(text), .line = line, .file = file_}}};
}

ShellExpansion::Filled ShellExpansion::fill(const ShellWordPiece& piece, std::uint32_t line) {
  budget_.step({file_, line});
  if (++depth_ > kDeepestVariables)
    budget_.fail({file_, line}, "variables are nested more than 50 deep");
  Filled filled;
  if (piece.kind == PieceKind::kVariable) {
    filled = variable(piece, line);
  } else if (piece.kind == PieceKind::kCommand) {
    filled = one(substitute_(piece.text).value_or(wrap_unknown_script_text(written(piece))), line);
  } else {
    open_name_.clear();
    const auto value = value_of_arithmetic(piece.text, line);
    const bool known = value && value->known;
    if (!known && !open_name_.empty()) open_arithmetic_.try_emplace(written(piece), open_name_);
    filled =
        one(known ? std::to_string(value->value) : wrap_unknown_script_text(written(piece)), line);
  }
  --depth_;
  return filled;
}

ShellExpansion::Filled ShellExpansion::variable(const ShellWordPiece& piece, std::uint32_t line) {
  ShellParameter asked = parameter_of(piece.text);
  const bool all = asked.index == "@" || asked.index == "*" || asked.name == "@";
  if (asked.mark == '!') {
    if (const ShellVariableValue* value = variables_.find(asked.name); all && value != nullptr) {
      Filled keys{.each = true};
      for (std::size_t i = 0; i < value->elements.size(); ++i) {
        keys.words.push_back({.text = std::to_string(i), .line = line, .file = file_});
      }
      for (const auto& [key, word] : value->keyed) keys.words.push_back({.text = key});
      return keys;
    }
    const auto name = variables_.text(asked.name);
    if (!name || !is_shell_name(*name)) return one(wrap_unknown_script_text(written(piece)), line);
    asked.name = *name;
  }
  std::optional<Filled> value = value_of(asked.name, asked.index, line);
  if (asked.mark == '#') {
    const ShellVariableValue* const held = variables_.find(asked.name);
    if (all && held != nullptr && held->open_count)
      return one(wrap_unknown_script_text(written(piece)), line);
    if (!value) return one(all ? "0" : wrap_unknown_script_text(written(piece)), line);
    if (all) return one(std::to_string(value->words.size()), line);
    const std::string text = join_shell_words(value->words);
    return one(is_fully_known_script_text(text) ? std::to_string(text.size())
                                                : wrap_unknown_script_text(written(piece)),
               line);
  }
  return operated(piece, asked.name, std::move(value), asked.operation, line);
}

/// Returns the value of a parameter; nullopt if it is unset.
std::optional<ShellExpansion::Filled> ShellExpansion::value_of(
    const std::string& name, const std::optional<std::string>& index, std::uint32_t line) {
  const std::span<const std::string> arguments = variables_.arguments.all();
  if (name == "@" || name == "*") {
    Filled all{.each = name == "@"};
    for (const std::string& one : arguments) all.words.push_back({.text = one, .line = line});
    return all;
  }
  if (name == "#") return one(std::to_string(arguments.size()), line);
  if (name == "?") return one("0", line);
  if (name == "0" || (name == "BASH_SOURCE" && index.value_or("0") == "0")) {
    return one(variables_.zero, line);
  }
  if (const auto number = shell_integer(name)) {
    if (*number < 1 || static_cast<std::size_t>(*number) > arguments.size()) return std::nullopt;
    return one(arguments[static_cast<std::size_t>(*number) - 1], line);
  }
  const ShellVariableValue* value = variables_.find(name);
  if (value == nullptr) return std::nullopt;
  if (index == "@" || index == "*") return Filled{value->all(), index == "@"};
  if (!index) {
    if (value->elements.empty()) return value->array ? std::optional<Filled>() : Filled{};
    return Filled{{value->elements.front()}};
  }
  if (!value->keyed.empty()) {
    const auto found = value->keyed.find(inner_text(*index, line));
    if (found == value->keyed.end()) return std::nullopt;
    return Filled{{found->second}};
  }
  const auto number = value_of_arithmetic(*index, line);
  if (!number || !number->known) return std::nullopt;
  const auto size = static_cast<std::int64_t>(value->elements.size());
  const std::int64_t at = number->value < 0 ? number->value + size : number->value;
  if (at < 0 || at >= size) return std::nullopt;
  return Filled{{value->elements[static_cast<std::size_t>(at)]}};
}

ShellExpansion::Filled ShellExpansion::operated(const ShellWordPiece& piece,
                                                const std::string& name,
                                                std::optional<Filled> value,
                                                std::string_view operation, std::uint32_t line) {
  if (operation.empty()) {
    return value ? std::move(*value) : one(wrap_unknown_script_text(written(piece)), line);
  }
  if (auto found = usual(name, value, operation, line)) return std::move(*found);
  if (!value) return one(wrap_unknown_script_text(written(piece)), line);
  for (ShellWord& word : value->words) {
    const auto text =
        is_fully_known_script_text(word.text) ? changed(word.text, operation, line) : std::nullopt;
    if (!text) return one(wrap_unknown_script_text(written(piece)), line);
    word.text = *text;
  }
  return std::move(*value);
}

/// Evaluates the operations `:-`, `:=`, `:+`, `:?` and their forms without a colon; nullopt for
/// other operations.
std::optional<ShellExpansion::Filled> ShellExpansion::usual(const std::string& name,
                                                            const std::optional<Filled>& value,
                                                            std::string_view operation,
                                                            std::uint32_t line) {
  const bool colon = operation.starts_with(':');
  const std::string_view rest = operation.substr(colon ? 1 : 0);
  if (rest.empty() || std::string_view("-=+?").find(rest.front()) == std::string_view::npos) {
    return std::nullopt;
  }
  const bool there = value && (!colon || !join_shell_words(value->words).empty());
  const char kind = rest.front();
  if (kind == '+') return there ? one(inner_text(rest.substr(1), line), line) : Filled{};
  if (there) return value;
  if (kind == '?') return one(wrap_unknown_script_text("$" + name), line);
  std::string text = inner_text(rest.substr(1), line);
  // `${NAME:-}` of a variable that no script sets stays unknown, since the environment can set it.
  if (kind == '-' && !value && text.empty()) return one(wrap_unknown_script_text("$" + name), line);
  if (kind == '=') variables_.set_text(name, text, {file_, line});
  return one(std::move(text), line);
}

std::optional<std::string> ShellExpansion::changed(const std::string& text,
                                                   std::string_view operation, std::uint32_t line) {
  const char first = operation.front();
  const bool twice = operation.size() > 1 && operation[1] == first;
  if (first == ',' || first == '^') return with_case(text, operation.substr(0, twice ? 2 : 1));
  if (first == ':') return cut(text, operation.substr(1), line);
  if (first == '%' || first == '#') {
    const std::string pattern = inner_pattern(operation.substr(twice ? 2 : 1), line);
    if (!is_fully_known_script_text(pattern)) return std::nullopt;
    budget_.count_processed_characters(text.size() * text.size() * pattern.size(), {file_, line});
    return remove_shell_pattern_match(text, pattern,
                                      first == '#' ? PatternEnd::kFront : PatternEnd::kBack, twice);
  }
  if (first != '/') return std::nullopt;
  const std::string_view rest = operation.substr(twice ? 2 : 1);
  std::size_t slash = 0;
  while (slash < rest.size() && rest[slash] != '/') slash += rest[slash] == '\\' ? 2 : 1;
  slash = std::min(slash, rest.size());
  const std::string pattern = inner_pattern(rest.substr(0, slash), line);
  const std::string by =
      slash < rest.size() ? inner_text(rest.substr(slash + 1), line) : std::string();
  if (!is_fully_known_script_text(pattern) || !is_fully_known_script_text(by)) return std::nullopt;
  const bool open_end = pattern.find('*') != std::string::npos;
  const std::size_t tried = text.size() * (open_end ? text.size() : pattern.size());
  const std::size_t work = tried * (open_end ? text.size() : 1) * pattern.size();
  if (text.size() > kLongestReplaced) return std::nullopt;
  budget_.count_processed_characters(work, {file_, line});
  return replace_shell_pattern_matches(text, pattern, by, twice);
}

/// Evaluates `offset` or `offset:length` of `${NAME:...}`.
std::optional<std::string> ShellExpansion::cut(const std::string& text, std::string_view bounds,
                                               std::uint32_t line) {
  const std::size_t colon = std::min(bounds.find(':'), bounds.size());
  const auto size = static_cast<std::int64_t>(text.size());
  const auto from = value_of_arithmetic(std::string(bounds.substr(0, colon)), line);
  if (!from || !from->known) return std::nullopt;
  std::int64_t begin = from->value < 0 ? from->value + size : from->value;
  if (begin < 0 || begin > size) return std::string();
  std::int64_t length = size - begin;
  if (colon < bounds.size()) {
    const auto asked = value_of_arithmetic(std::string(bounds.substr(colon + 1)), line);
    if (!asked || !asked->known) return std::nullopt;
    length = asked->value < 0 ? length + asked->value : std::min(length, asked->value);
  }
  return text.substr(static_cast<std::size_t>(begin),
                     static_cast<std::size_t>(std::max<std::int64_t>(0, length)));
}

/// Expands a text inside `${...}` or `$((...))`, without the quotes around the whole text.
std::string ShellExpansion::inner_text(std::string_view inner, std::uint32_t line) {
  if (inner.size() > 1 && inner.front() == inner.back() &&
      (inner.front() == '"' || inner.front() == '\'')) {
    inner = inner.substr(1, inner.size() - 2);
  }
  return text(parse_as_double_quoted(inner, files_[file_], line));
}

std::string ShellExpansion::inner_pattern(std::string_view inner, std::uint32_t line) {
  UnexpandedShellWord term = parse_as_double_quoted(inner, files_[file_], line);
  for (ShellWordPiece& piece : term.pieces) piece.quoted = piece.kind != PieceKind::kText;
  return expand_to_shell_pattern(term);
}

}  // namespace stepwright::launch_scripts

#include "stepwright/framework_files/syntax/shell_script.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <optional>
#include <utility>

#include "stepwright/core/error.h"
#include "stepwright/framework_files/syntax/shell_arithmetic.h"
#include "stepwright/framework_files/syntax/shell_commands.h"

namespace stepwright {
namespace {

constexpr std::size_t kLongestScript = std::size_t{1} << 20;

/// Parts a script into commands, from its first character to its last.
class ShellReader {
 public:
  ShellReader(std::string_view text, const std::string& name)
      : text_(text), name_(name), commands_(name) {}

  ShellScript read() {
    while (at_ < text_.size()) step();
    end_command();
    return commands_.finish();
  }

 private:
  using Words = ShellCommands::Words;

  [[noreturn]] void fail(std::uint32_t line, std::string_view what) const {
    commands_.fail(line, what);
  }

  [[nodiscard]] char here(std::size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }
  char next() {
    const char c = text_[at_++];
    if (c == '\n') ++line_;
    return c;
  }

  void step() {
    const char c = here();
    if (c == '\\' && (here(1) == '\n' || (here(1) == '\r' && here(2) == '\n'))) {
      while (next() != '\n') {
      }
      return end_word();
    }
    if (c == ' ' || c == '\t' || c == '\r') {
      next();
      return end_word();
    }
    if (c == '#' && !in_word_) return comment();
    if (c == '\n') {
      end_word();
      next();
      if (!heredoc_.empty()) skip_heredoc();
      if (!in_array_) end_command();
      return;
    }
    if (c == ')' && in_array_) return end_array();
    if (c == ';' || c == '&' || c == '|') {
      const bool redirection = c == '&' && (previous_ == '>' || here(1) == '>');
      if (redirection) {
        next();
        begin_word();
        word_ += '>';
        previous_ = '>';
        return;
      }
      end_word();
      next();
      end_command();
      if (c == ';' && here() == ';') commands_.end_branch(line_);
      return;
    }
    if (c == '<' && here(1) == '<' && here(2) != '<') return begin_heredoc();
    previous_ = c;
    character(c);
  }

  void begin_word() {
    if (!in_word_) word_line_ = line_;
    in_word_ = true;
  }

  void character(char c) {
    begin_word();
    if (c == '\'') return single_quoted();
    if (c == '"') return double_quoted();
    if (c == '\\') {
      next();
      if (at_ < text_.size()) word_ += next();
      return;
    }
    if (c == '$' || c == '`') return expansion(false);
    if (c == '(' && is_assignment_head()) return begin_array();
    word_ += next();
  }

  [[nodiscard]] bool is_assignment_head() const {
    if (!word_.ends_with('=') || command_.size() > 1) return false;
    std::string_view name = std::string_view(word_).substr(0, word_.size() - 1);
    if (name.ends_with('+')) name.remove_suffix(1);
    return is_shell_name(name);
  }

  void begin_array() {
    next();
    array_name_ = word_.substr(0, word_.size() - 1);
    in_array_ = true;
    array_line_ = line_;
    word_.clear();
    in_word_ = false;
    array_.clear();
  }

  void end_array() {
    end_word();
    next();
    in_array_ = false;
    commands_.set_array(array_name_, array_, line_);
  }

  void single_quoted() {
    const std::uint32_t line = line_;
    next();
    while (at_ < text_.size() && here() != '\'') word_ += next();
    if (at_ == text_.size()) fail(line, "a single quote never closes");
    next();
  }

  void double_quoted() {
    const std::uint32_t line = line_;
    next();
    while (at_ < text_.size() && here() != '"') {
      if (here() == '\\' && at_ + 1 < text_.size()) {
        next();
        const char c = next();
        if (std::string_view("\"\\$`\n").find(c) == std::string_view::npos) word_ += '\\';
        if (c != '\n') word_ += c;
      } else if (here() == '$' || here() == '`') {
        expansion(true);
      } else {
        word_ += next();
      }
    }
    if (at_ == text_.size()) fail(line, "a double quote never closes");
    next();
  }

  /// Text up to the bracket that closes the one just passed.
  std::string bracketed(char open, char close) {
    const std::uint32_t line = line_;
    std::string inner;
    for (int depth = 1; at_ < text_.size();) {
      const char c = next();
      if (c == open) ++depth;
      if (c == close && --depth == 0) return inner;
      inner += c;
    }
    fail(line, fmt::format("'{}' never closes", open));
  }

  void expansion(bool quoted) {
    if (here() == '`') {
      next();
      word_ += '`' + bracketed('\0', '`') + '`';
      return;
    }
    next();
    if (here() == '(' && here(1) == '(') {
      at_ += 2;
      std::string inner = bracketed('(', ')');
      if (here() == ')') next();
      return arithmetic(inner);
    }
    if (here() == '(') {
      next();
      word_ += "$(" + bracketed('(', ')') + ")";
      return;
    }
    if (here() == '{') {
      next();
      return braced(bracketed('{', '}'), quoted);
    }
    std::string name;
    while (is_shell_name_char(here())) name += next();
    if (name.empty() && at_ < text_.size() && here() != '"') name = next();
    fill(name, std::nullopt, "$" + name, quoted ? Fill::kOne : Fill::kSplit);
  }

  void arithmetic(const std::string& inner) {
    std::string filled;
    for (std::size_t i = 0; i < inner.size();) {
      if (inner[i] == '$' || inner[i] == '{' || inner[i] == '}') {
        ++i;
        continue;
      }
      std::size_t end = i;
      while (end < inner.size() && is_shell_name_char(inner[end])) ++end;
      const std::string name = inner.substr(i, end - i);
      const Words* value = commands_.value_of(name);
      filled += value != nullptr ? joined(*value) : end > i ? name : inner.substr(i, 1);
      i = std::max(end, i + 1);
    }
    const auto value = arithmetic_value(filled);
    word_ += value ? std::to_string(*value) : "$((" + inner + "))";
  }

  void braced(const std::string& inner, bool quoted) {
    std::size_t end = 0;
    while (end < inner.size() && is_shell_name_char(inner[end])) ++end;
    const std::string name = inner.substr(0, end);
    std::string_view rest = std::string_view(inner).substr(end);
    if (rest.starts_with("[@]") || rest.starts_with("[*]")) rest.remove_prefix(3);
    std::optional<std::string> fallback;
    for (const std::string_view mark : {":-", "-", ":="}) {
      if (!rest.starts_with(mark)) continue;
      fallback = std::string(rest.substr(mark.size()));
      rest = {};
      break;
    }
    if (!rest.empty()) {
      word_ += "${" + inner + "}";
      return;
    }
    const bool each = inner.find("[@]") != std::string::npos;
    fill(name, fallback, "${" + inner + "}",
         !quoted ? Fill::kSplit
         : each  ? Fill::kEach
                 : Fill::kOne);
  }

  /// How a variable becomes words: one in quotes, one for each element of an array in quotes, or
  /// what blanks part.
  enum class Fill : std::uint8_t { kOne, kEach, kSplit };

  static Words words_of(const Words& value, Fill how) {
    if (how == Fill::kOne) return {joined(value)};
    if (how == Fill::kEach) return value;
    Words parts;
    for (const std::string& element : value) {
      for (std::string& part : split(element)) parts.push_back(std::move(part));
    }
    return parts;
  }

  void fill(const std::string& name, const std::optional<std::string>& fallback,
            const std::string& spelling, Fill how) {
    const Words* value = commands_.value_of(name);
    if (value == nullptr) {
      word_ += fallback.value_or(spelling);
      return;
    }
    const Words parts = words_of(*value, how);
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (i > 0) {
        end_word();
        begin_word();
      }
      word_ += parts[i];
    }
    if (parts.empty() && word_.empty()) in_word_ = false;
  }

  static Words split(const std::string& text) {
    Words words;
    std::string word;
    for (const char c : text + " ") {
      if (std::isspace(static_cast<unsigned char>(c)) == 0) {
        word += c;
      } else if (!word.empty()) {
        words.push_back(std::exchange(word, ""));
      }
    }
    return words;
  }

  void comment() {
    const std::uint32_t line = line_;
    std::string text;
    while (at_ < text_.size() && here() != '\n') text += next();
    constexpr std::string_view kBatch = "#SBATCH";
    if (!text.starts_with(kBatch)) return;
    for (const std::string& word : split(text.substr(kBatch.size()))) {
      if (word.starts_with('#')) break;
      commands_.script().batch_options.push_back({word, line});
    }
  }

  void begin_heredoc() {
    end_word();
    at_ += 2;
    if (here() == '-') next();
    while (here() == ' ') next();
    while (at_ < text_.size() && (is_shell_name_char(here()) || here() == '\'' || here() == '"')) {
      const char c = next();
      if (is_shell_name_char(c)) heredoc_ += c;
    }
  }

  void skip_heredoc() {
    commands_.script().notes.push_back(
        fmt::format("{}:{}: The text up to {} was passed over.", name_, line_, heredoc_));
    while (at_ < text_.size()) {
      std::string line;
      while (at_ < text_.size() && here() != '\n') line += next();
      if (at_ < text_.size()) next();
      const std::size_t first = line.find_first_not_of(" \t");
      if (first != std::string::npos && line.substr(first) == heredoc_) break;
    }
    heredoc_.clear();
  }

  void end_word() {
    previous_ = ' ';
    if (!in_word_) return;
    in_word_ = false;
    commands_.count(1, line_);
    if (word_.size() > kLongestScript) fail(word_line_, "a word grows beyond 1 MiB");
    if (in_array_) {
      array_.push_back(std::exchange(word_, ""));
    } else {
      command_.push_back({std::exchange(word_, ""), word_line_});
    }
  }

  void end_command() {
    end_word();
    if (in_array_) fail(array_line_, "'(' never closes");
    commands_.take(std::exchange(command_, {}));
  }

  std::string_view text_;
  const std::string& name_;
  std::size_t at_ = 0;
  std::uint32_t line_ = 1;
  char previous_ = ' ';
  bool in_word_ = false;
  std::string word_;
  std::uint32_t word_line_ = 1;
  std::vector<ShellWord> command_;
  bool in_array_ = false;
  std::uint32_t array_line_ = 1;
  std::string array_name_;
  Words array_;
  std::string heredoc_;
  ShellCommands commands_;
};

}  // namespace

ShellScript read_shell_script(std::string_view text, const std::string& name) {
  if (text.size() > kLongestScript) fail_input(fmt::format("{}: is larger than 1 MiB", name));
  return ShellReader(text, name).read();
}

}  // namespace stepwright

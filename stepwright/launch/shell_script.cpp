#include "stepwright/launch/shell_script.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <utility>

#include "stepwright/core/error.h"
#include "stepwright/launch/shell_arithmetic.h"

namespace stepwright {
namespace {

constexpr std::size_t kLongestScript = std::size_t{1} << 20;
constexpr std::size_t kMostWords = 100'000;

bool is_name_char(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

bool is_name(std::string_view text) {
  return !text.empty() && std::isdigit(static_cast<unsigned char>(text.front())) == 0 &&
         std::ranges::all_of(text, is_name_char);
}

/// Reads a script from its first character to its last.
class ShellReader {
 public:
  ShellReader(std::string_view text, const std::string& name) : text_(text), name_(name) {}

  ShellScript read() {
    while (at_ < text_.size()) step();
    end_command();
    if (skipped_else_) {
      script_.notes.push_back(fmt::format("{}: of conditions the first branch was read (line {})",
                                          name_, skipped_else_));
    }
    for (const std::string& name : exports_) {
      const auto value = values_.find(name);
      if (value != values_.end()) script_.exported[name] = joined(value->second);
    }
    return std::move(script_);
  }

 private:
  using Words = std::vector<std::string>;

  [[noreturn]] void fail(std::uint32_t line, std::string_view what) const {
    fail_input(fmt::format("{}:{}: {}", name_, line, what));
  }

  static std::string joined(const Words& words) {
    std::string text;
    for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
    return text;
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
      if (c == ';' && here() == ';' && !blocks_.empty()) pass_over_rest(line_);
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
    return is_name(name);
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
    if (passed_depth_ > 0) return;
    const bool append = array_name_.ends_with('+');
    if (append) array_name_.pop_back();
    Words& value = values_[array_name_];
    if (!append) value.clear();
    value.insert(value.end(), array_.begin(), array_.end());
    count(value.size());
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
    while (is_name_char(here())) name += next();
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
      while (end < inner.size() && is_name_char(inner[end])) ++end;
      const std::string name = inner.substr(i, end - i);
      const auto value = is_name(name) ? values_.find(name) : values_.end();
      filled += value != values_.end() ? joined(value->second)
                : end > i              ? name
                                       : inner.substr(i, 1);
      i = std::max(end, i + 1);
    }
    const auto value = arithmetic_value(filled);
    word_ += value ? std::to_string(*value) : "$((" + inner + "))";
  }

  void braced(const std::string& inner, bool quoted) {
    std::size_t end = 0;
    while (end < inner.size() && is_name_char(inner[end])) ++end;
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
    const auto value = values_.find(name);
    if (value == values_.end()) {
      word_ += fallback.value_or(spelling);
      return;
    }
    const Words parts = words_of(value->second, how);
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
      script_.batch_options.push_back({word, line});
    }
  }

  void begin_heredoc() {
    end_word();
    at_ += 2;
    if (here() == '-') next();
    while (here() == ' ') next();
    while (at_ < text_.size() && (is_name_char(here()) || here() == '\'' || here() == '"')) {
      const char c = next();
      if (is_name_char(c)) heredoc_ += c;
    }
  }

  void skip_heredoc() {
    script_.notes.push_back(
        fmt::format("{}:{}: the text up to {} was passed over", name_, line_, heredoc_));
    while (at_ < text_.size()) {
      std::string line;
      while (at_ < text_.size() && here() != '\n') line += next();
      if (at_ < text_.size()) next();
      const std::size_t first = line.find_first_not_of(" \t");
      if (first != std::string::npos && line.substr(first) == heredoc_) break;
    }
    heredoc_.clear();
  }

  void count(std::size_t words) {
    words_ += words;
    if (words_ > kMostWords) fail(line_, fmt::format("more than {} words", kMostWords));
  }

  void end_word() {
    previous_ = ' ';
    if (!in_word_) return;
    in_word_ = false;
    count(1);
    if (word_.size() > kLongestScript) fail(word_line_, "a word grows beyond 1 MiB");
    if (in_array_) {
      array_.push_back(std::exchange(word_, ""));
    } else {
      command_.push_back({std::exchange(word_, ""), word_line_});
    }
  }

  /// Of a condition or a case only the first branch counts; `block_` are the open ones.
  void enter_or_leave(const ShellWord& word) {
    if (word.text == "if" || word.text == "case") blocks_.push_back(word.text);
    if (word.text == "else" || word.text == "elif") pass_over_rest(word.line);
    if ((word.text == "fi" || word.text == "esac") && !blocks_.empty()) {
      if (passed_depth_ == blocks_.size()) passed_depth_ = 0;
      blocks_.pop_back();
    }
  }

  void pass_over_rest(std::uint32_t line) {
    if (passed_depth_ == 0) passed_depth_ = blocks_.size();
    if (skipped_else_ == 0) skipped_else_ = line;
  }

  /// Whether a command is no more than words of the shell, or stands in a branch that is left out.
  [[nodiscard]] bool passes_over() {
    static constexpr std::array<std::string_view, 5> kHeads = {"then", "do", "{", "time", "exec"};
    static constexpr std::array<std::string_view, 10> kParts = {
        "if", "elif", "else", "fi", "for", "while", "case", "esac", "done", "}"};
    while (!command_.empty()) {
      const std::string& word = command_.front().text;
      const bool pattern = !blocks_.empty() && blocks_.back() == "case" && word.ends_with(')');
      if (pattern || std::ranges::find(kHeads, word) != kHeads.end()) {
        command_.erase(command_.begin());
        continue;
      }
      enter_or_leave(command_.front());
      return passed_depth_ > 0 || std::ranges::find(kParts, word) != kParts.end();
    }
    return true;
  }

  void end_command() {
    end_word();
    if (in_array_) fail(array_line_, "'(' never closes");
    if (!passes_over()) take_command();
    command_.clear();
  }

  bool take_assignment(const ShellWord& word, bool exported) {
    const std::size_t equals = word.text.find('=');
    if (equals == std::string::npos) {
      if (exported && is_name(word.text)) exports_.push_back(word.text);
      return exported;
    }
    std::string name = word.text.substr(0, equals);
    const bool append = name.ends_with('+');
    if (append) name.pop_back();
    if (!is_name(name)) return false;
    std::string value = word.text.substr(equals + 1);
    if (append) value = joined(values_[name]) + value;
    count(1 + value.size() / 64);
    values_[name] = {value};
    if (exported) exports_.push_back(name);
    return true;
  }

  void take_command() {
    static constexpr std::array<std::string_view, 4> kDeclare = {"export", "declare", "local",
                                                                 "readonly"};
    const bool declares = std::ranges::find(kDeclare, command_.front().text) != kDeclare.end();
    const bool exports = command_.front().text == "export";
    if (command_.front().text == "unset" && command_.size() > 1) {
      for (const ShellWord& word : command_) {
        values_.erase(word.text);
        std::erase(exports_, word.text);
      }
      return;
    }
    std::size_t first = declares ? 1 : 0;
    // An assignment before a command is seen by that command alone, as if it were exported.
    std::size_t last = first;
    while (last < command_.size() && command_[last].text.find('=') != std::string::npos) {
      const std::string& text = command_[last].text;
      std::string name = text.substr(0, text.find('='));
      if (name.ends_with('+')) name.pop_back();
      if (!is_name(name)) break;
      ++last;
    }
    const bool in_front = last < command_.size();
    for (; first < (declares ? command_.size() : last); ++first) {
      take_assignment(command_[first], exports || in_front);
    }
    if (declares || last == command_.size()) return;
    std::vector<ShellWord> words(command_.begin() + static_cast<std::ptrdiff_t>(last),
                                 command_.end());
    script_.commands.push_back(without_redirections(std::move(words)));
  }

  static std::vector<ShellWord> without_redirections(std::vector<ShellWord> words) {
    std::vector<ShellWord> kept;
    for (std::size_t i = 0; i < words.size(); ++i) {
      const std::string& text = words[i].text;
      const std::size_t arrow = text.find_first_not_of("0123456789&");
      if (arrow == std::string::npos || (text[arrow] != '>' && text[arrow] != '<')) {
        kept.push_back(words[i]);
      } else if (text.find_last_of("><&") == text.size() - 1) {
        ++i;
      }
    }
    return kept;
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
  std::map<std::string, Words> values_;
  std::vector<std::string> exports_;
  std::string heredoc_;
  std::vector<std::string> blocks_;
  std::size_t passed_depth_ = 0;  ///< Of the block whose further branches are left out; 0: none.
  std::uint32_t skipped_else_ = 0;
  std::size_t words_ = 0;
  ShellScript script_;
};

}  // namespace

ShellScript read_shell_script(std::string_view text, const std::string& name) {
  if (text.size() > kLongestScript) fail_input(fmt::format("{}: is larger than 1 MiB", name));
  return ShellReader(text, name).read();
}

}  // namespace stepwright

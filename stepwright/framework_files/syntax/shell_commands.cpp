#include "stepwright/framework_files/syntax/shell_commands.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "stepwright/core/error.h"

namespace stepwright {
namespace {

constexpr std::size_t kMostWords = 100'000;

std::vector<ShellWord> without_redirections(std::vector<ShellWord> words) {
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

}  // namespace

bool is_shell_name_char(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

bool is_shell_name(std::string_view text) {
  return !text.empty() && std::isdigit(static_cast<unsigned char>(text.front())) == 0 &&
         std::ranges::all_of(text, is_shell_name_char);
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

void ShellCommands::fail(std::uint32_t line, std::string_view what) const {
  fail_input(fmt::format("{}:{}: {}", name_, line, what));
}

void ShellCommands::count(std::size_t words, std::uint32_t line) {
  words_ += words;
  if (words_ > kMostWords) fail(line, fmt::format("more than {} words", kMostWords));
}

const ShellCommands::Words* ShellCommands::value_of(const std::string& name) const {
  const auto value = values_.find(name);
  return value == values_.end() ? nullptr : &value->second;
}

void ShellCommands::take(std::vector<ShellWord> command) {
  if (!passes_over(command)) run(command);
}

void ShellCommands::set_array(std::string head, const Words& words, std::uint32_t line) {
  if (passed_depth_ > 0) return;
  const bool append = head.ends_with('+');
  if (append) head.pop_back();
  Words& value = values_[head];
  if (!append) value.clear();
  value.insert(value.end(), words.begin(), words.end());
  count(value.size(), line);
}

void ShellCommands::end_branch(std::uint32_t line) {
  if (!blocks_.empty()) pass_over_rest(line);
}

ShellScript ShellCommands::finish() {
  if (skipped_else_ > 0) {
    script_.notes.push_back(fmt::format(
        "{}: Of conditions only the first branch was read (line {}).", name_, skipped_else_));
  }
  for (const std::string& name : exports_) {
    if (const Words* value = value_of(name)) script_.exported[name] = joined(*value);
  }
  return std::move(script_);
}

/// Enters or leaves a condition or a case, of which only the first branch counts; `blocks_` are the
/// open ones.
void ShellCommands::enter_or_leave(const ShellWord& word) {
  if (word.text == "if" || word.text == "case") blocks_.push_back(word.text);
  if (word.text == "else" || word.text == "elif") pass_over_rest(word.line);
  if ((word.text == "fi" || word.text == "esac") && !blocks_.empty()) {
    if (passed_depth_ == blocks_.size()) passed_depth_ = 0;
    blocks_.pop_back();
  }
}

void ShellCommands::pass_over_rest(std::uint32_t line) {
  if (passed_depth_ == 0) passed_depth_ = blocks_.size();
  if (skipped_else_ == 0) skipped_else_ = line;
}

/// Whether a command is no more than words of the shell, or stands in a branch that is left out.
bool ShellCommands::passes_over(std::vector<ShellWord>& command) {
  static constexpr std::array<std::string_view, 5> kHeads = {"then", "do", "{", "time", "exec"};
  static constexpr std::array<std::string_view, 10> kParts = {
      "if", "elif", "else", "fi", "for", "while", "case", "esac", "done", "}"};
  while (!command.empty()) {
    const std::string& word = command.front().text;
    const bool pattern = !blocks_.empty() && blocks_.back() == "case" && word.ends_with(')');
    if (pattern || std::ranges::find(kHeads, word) != kHeads.end()) {
      command.erase(command.begin());
      continue;
    }
    enter_or_leave(command.front());
    return passed_depth_ > 0 || std::ranges::find(kParts, word) != kParts.end();
  }
  return true;
}

bool ShellCommands::take_assignment(const ShellWord& word, bool exported) {
  const std::size_t equals = word.text.find('=');
  if (equals == std::string::npos) {
    if (exported && is_shell_name(word.text)) exports_.push_back(word.text);
    return exported;
  }
  std::string name = word.text.substr(0, equals);
  const bool append = name.ends_with('+');
  if (append) name.pop_back();
  if (!is_shell_name(name)) return false;
  std::string value = word.text.substr(equals + 1);
  if (append) value = joined(values_[name]) + value;
  count(1 + value.size() / 64, word.line);
  values_[name] = {value};
  if (exported) exports_.push_back(name);
  return true;
}

void ShellCommands::run(const std::vector<ShellWord>& command) {
  static constexpr std::array<std::string_view, 4> kDeclare = {"export", "declare", "local",
                                                               "readonly"};
  const bool declares = std::ranges::find(kDeclare, command.front().text) != kDeclare.end();
  const bool exports = command.front().text == "export";
  if (command.front().text == "unset" && command.size() > 1) {
    for (const ShellWord& word : command) {
      values_.erase(word.text);
      std::erase(exports_, word.text);
    }
    return;
  }
  std::size_t first = declares ? 1 : 0;
  // An assignment before a command is seen by that command alone, as if it were exported.
  std::size_t last = first;
  while (last < command.size() && command[last].text.find('=') != std::string::npos) {
    const std::string& text = command[last].text;
    std::string name = text.substr(0, text.find('='));
    if (name.ends_with('+')) name.pop_back();
    if (!is_shell_name(name)) break;
    ++last;
  }
  const bool in_front = last < command.size();
  for (; first < (declares ? command.size() : last); ++first) {
    take_assignment(command[first], exports || in_front);
  }
  if (declares || last == command.size()) return;
  std::vector<ShellWord> words(command.begin() + static_cast<std::ptrdiff_t>(last), command.end());
  script_.commands.push_back(without_redirections(std::move(words)));
}

}  // namespace stepwright

#include "stepwright/launch_scripts/shell/state.h"

#include <fmt/format.h>

#include <cctype>
#include <utility>

#include "stepwright/core/error.h"
#include "stepwright/launch_scripts/capture_advice.h"
#include "stepwright/launch_scripts/shell/syntax.h"
#include "stepwright/launch_scripts/text.h"

namespace stepwright::launch_scripts {
namespace {

constexpr std::size_t kMostShellSteps = 100'000;
constexpr std::size_t kMostShellWords = 100'000;
constexpr std::size_t kMostShellBytes = std::size_t{16} << 20;
constexpr std::size_t kMostWork = 300'000'000;

}  // namespace

void ShellWorkBudget::fail(ShellPosition place, std::string_view what) const {
  fail_input(fmt::format("{}:{}: {}{}", files_[place.file], place.line, what,
                         script_capture_advice("what runs", place.line, files_.front())));
}

void ShellWorkBudget::step(ShellPosition place) {
  if (++steps_ > kMostShellSteps) fail(place, fmt::format("more than {} steps", kMostShellSteps));
}

void ShellWorkBudget::count_expanded_word(std::string_view text, ShellPosition place) {
  bytes_ += text.size();
  if (++words_ > kMostShellWords) fail(place, fmt::format("more than {} words", kMostShellWords));
  if (bytes_ > kMostShellBytes) fail(place, "what variables hold grows beyond 16 MiB");
}

void ShellWorkBudget::count_condition_memory(std::string_view text, ShellPosition place) {
  bytes_ += text.size();
  if (bytes_ > kMostShellBytes) {
    fail(place, "commands behind && and || whose conditions only a run decides: more than 16 MiB");
  }
}

void ShellWorkBudget::count_processed_characters(std::size_t characters, ShellPosition place) {
  work_ += characters;
  if (work_ > kMostWork) fail(place, "its variables take too long to work with");
}

std::vector<ShellWord> ShellVariableValue::all() const {
  std::vector<ShellWord> words = elements;
  for (const auto& [key, word] : keyed) words.push_back(word);
  return words;
}

std::string ShellVariables::referred_name(const std::string& name) const {
  constexpr int kDeepestReference = 10;
  std::string target = name;
  for (int depth = 0; depth < kDeepestReference; ++depth) {
    const auto found = values_.find(target);
    if (found == values_.end() || found->second.refers_to.empty()) break;
    target = found->second.refers_to;
  }
  return target;
}

const ShellVariableValue* ShellVariables::find(const std::string& name) const {
  const auto found = values_.find(referred_name(name));
  return found == values_.end() ? nullptr : &found->second;
}

std::optional<std::string> ShellVariables::text(const std::string& name) const {
  const ShellVariableValue* value = find(name);
  if (value == nullptr) return std::nullopt;
  return value->elements.empty() ? std::string() : value->elements.front().text;
}

void ShellVariables::set_fixed_variable(const std::string& name, const std::string& text) {
  fixed_[name] = text;
  values_[name] = {.elements = {{.text = text}}};
}

void ShellVariables::set_shell_name_reference(const std::string& name, const std::string& target) {
  if (is_fixed(name)) return;
  save_value_for_subshell(name);
  values_[name] = {.refers_to = target};
}

void ShellVariables::set(const std::string& name, ShellVariableValue value) {
  const std::string target = referred_name(name);
  const auto fixed = fixed_.find(target);
  save_value_for_subshell(target);
  if (fixed == fixed_.end()) {
    values_[target] = std::move(value);
  } else if (value.array) {
    values_[target] = {.elements = split_word_at_blanks({.text = fixed->second}), .array = true};
  }
}

void ShellVariables::set_text(const std::string& name, const std::string& text,
                              ShellPosition place) {
  set(name, {.elements = {{.text = text, .line = place.line, .file = place.file}}});
}

void ShellVariables::unset(const std::string& reference) {
  const std::string name = referred_name(reference);
  if (is_fixed(name)) return;
  save_value_for_subshell(name);
  save_export_for_subshell(name);
  values_.erase(name);
  exported_.erase(name);
}

ShellVariableValue* ShellVariables::editable_variable_value(const std::string& name) {
  const std::string target = referred_name(name);
  if (is_fixed(target)) return nullptr;
  save_value_for_subshell(target);
  return &values_[target];
}

void ShellVariables::mark_exported(const std::string& name) {
  save_export_for_subshell(name);
  exported_[name] = true;
}

std::map<std::string, ShellWord> ShellVariables::exported_variables() const {
  std::map<std::string, ShellWord> seen;
  for (const auto& [name, is] : exported_) {
    const ShellVariableValue* value = find(name);
    if (value != nullptr && !value->elements.empty()) seen[name] = value->elements.front();
  }
  return seen;
}

void ShellVariables::make_local(const std::string& name) {
  if (hidden_.empty() || is_fixed(name)) return;
  if (hidden_.back().contains(name)) return;
  hidden_.back().emplace(name, copy_of(name));
  // A local variable hides a name reference of the caller.
  if (referred_name(name) != name) {
    save_value_for_subshell(name);
    values_.erase(name);
  }
  if (!subshells_.empty()) subshells_.back().local.emplace_back(hidden_.size() - 1, name);
}

void ShellVariables::leave() {
  for (auto& [name, value] : hidden_.back()) {
    save_value_for_subshell(name);
    if (value) {
      values_[name] = std::move(*value);
    } else {
      values_.erase(name);
    }
  }
  hidden_.pop_back();
}

std::optional<ShellVariableValue> ShellVariables::copy_of(const std::string& name) {
  constexpr std::size_t kOfWord = 64;
  const auto found = values_.find(name);
  if (found == values_.end()) return std::nullopt;
  const ShellVariableValue& value = found->second;
  for (const ShellWord& word : value.elements) copied_ += word.text.size() + kOfWord;
  for (const auto& [key, word] : value.keyed) copied_ += word.text.size() + 2 * kOfWord;
  return value;
}

void ShellVariables::save_value_for_subshell(const std::string& name) {
  if (subshells_.empty() || subshells_.back().values.contains(name)) return;
  subshells_.back().values.emplace(name, copy_of(name));
}

void ShellVariables::save_export_for_subshell(const std::string& name) {
  if (!subshells_.empty()) subshells_.back().exported.emplace(name, exported_.contains(name));
}

void ShellVariables::enter_subshell() { subshells_.push_back({.arguments = arguments}); }

void ShellVariables::leave_subshell() {
  SubshellSavedValues before = std::move(subshells_.back());
  subshells_.pop_back();
  for (auto& [name, value] : before.values) {
    if (value) {
      values_[name] = std::move(*value);
    } else {
      values_.erase(name);
    }
  }
  for (const auto& [name, was] : before.exported) {
    if (was) {
      exported_[name] = true;
    } else {
      exported_.erase(name);
    }
  }
  for (const auto& [level, name] : before.local) {
    if (level < hidden_.size()) hidden_[level].erase(name);
  }
  arguments = std::move(before.arguments);
}

std::vector<ShellWord> split_word_at_blanks(const ShellWord& text) {
  std::vector<ShellWord> words;
  ShellWord word{.line = text.line, .file = text.file};
  std::uint32_t line = text.line;
  bool open = false;
  for (const char c : text.text + " ") {
    if (c == kUnknownMarkBegin) open = true;
    if (c == kUnknownMarkEnd) open = false;
    if (c == '\n') ++line;
    if (open || std::isspace(static_cast<unsigned char>(c)) == 0) {
      if (word.text.empty()) word.line = line;
      word.text += c;
    } else if (!word.text.empty()) {
      words.push_back(std::exchange(word, {.line = line, .file = text.file}));
    }
  }
  return words;
}

std::string join_shell_words(const std::vector<ShellWord>& words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) text += (i > 0 ? " " : "") + words[i].text;
  return text;
}

std::vector<std::string> texts_of_words_from(const std::vector<ShellWord>& words,
                                             std::size_t from) {
  std::vector<std::string> texts;
  for (std::size_t i = from; i < words.size(); ++i) texts.push_back(words[i].text);
  return texts;
}

std::string path_base_name(std::string_view path) { return std::string(last_path_part(path)); }

}  // namespace stepwright::launch_scripts

#include "stepwright/framework_files/launchers/command_changes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <set>

#include "stepwright/core/utf8.h"
#include "stepwright/framework_files/launchers/environment.h"

namespace stepwright::framework_files {
namespace {

constexpr std::size_t kMostChangesNamed = 8;

/// Maps each argument of a command (`--name value`, `name=value`) to its values, and each variable
/// that matters to its value.
std::map<std::string, std::string> arguments_of(const ShellCommand& command) {
  std::map<std::string, std::string> arguments;
  for (const std::vector<ShellWord>* words : {&command.launchers, &command.words}) {
    std::string name;
    for (const ShellWord& word : *words) {
      const std::size_t equals = word.text.find('=');
      // Behind `--name` a word with a sign of equality is a value.
      const bool setting =
          equals != std::string::npos && !word.text.starts_with('-') && !name.starts_with("--");
      const bool option = setting || word.text.starts_with("--");
      if (option) {
        // The last of repeated arguments counts.
        name = word.text.substr(0, equals);
        arguments[name].clear();
      }
      std::string& value = arguments[name];
      const bool whole = option && equals != std::string::npos;
      if (option && !whole) continue;
      value += (value.empty() ? "" : " ") + (option ? word.text.substr(equals + 1) : word.text);
      if (whole) name.clear();
    }
  }
  for (const auto& [name, word] : command.environment) {
    const KnownSetting* known = find_known_environment_variable(name);
    const bool matters =
        known != nullptr && (known->matters != SettingImpact::kNo || !known->field.empty());
    if (matters) arguments[name] = word.text;
  }
  return arguments;
}

std::string change_text(const CommandDifference& change) {
  const std::string name =
      one_line_printable_text(change.name.empty() ? "the words in front" : change.name);
  if (!change.after) return "no " + name;
  std::string text = name;
  if (!change.after->empty()) text += " " + one_line_printable_text(*change.after);
  if (!change.before) return text;
  return text + " instead of " +
         (change.before->empty() ? "none" : one_line_printable_text(*change.before));
}

}  // namespace

std::vector<CommandDifference> command_differences(const ShellCommand& before,
                                                   const ShellCommand& after) {
  const auto old = arguments_of(before);
  const auto fresh = arguments_of(after);
  std::set<std::string> names;
  for (const auto& [name, value] : old) names.insert(name);
  for (const auto& [name, value] : fresh) names.insert(name);
  std::vector<CommandDifference> all;
  for (const std::string& name : names) {
    const auto was = old.find(name);
    const auto is = fresh.find(name);
    CommandDifference change{.name = name};
    if (was != old.end()) change.before = was->second;
    if (is != fresh.end()) change.after = is->second;
    if (change.before != change.after) all.push_back(std::move(change));
  }
  return all;
}

std::string command_differences_text(const std::vector<CommandDifference>& command_differences) {
  std::vector<std::string> texts;
  for (const CommandDifference& change : command_differences) {
    if (texts.size() == kMostChangesNamed) {
      texts.push_back(fmt::format("and {} more", command_differences.size() - kMostChangesNamed));
      break;
    }
    texts.push_back(change_text(change));
  }
  return fmt::format("{}", fmt::join(texts, ", "));
}

}  // namespace stepwright::framework_files

#include "stepwright/framework_files/launchers/configured.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string>
#include <utility>

#include "stepwright/core/error.h"
#include "stepwright/framework_files/launchers/command_words.h"
#include "stepwright/framework_files/launchers/started.h"
#include "stepwright/framework_files/launchers/torchrun.h"
#include "stepwright/framework_files/recognition/target_data.h"
#include "stepwright/launch_scripts/shell/state.h"

namespace stepwright::framework_files {
namespace {

/// Returns the override in a command's word without Hydra's plus signs: "policy.x=1" for
/// "++policy.x=1"; empty for another word, and if the value is not a scalar.
std::string setting_of(std::string_view word) {
  while (word.starts_with('+')) word.remove_prefix(1);
  const std::size_t equals = word.find('=');
  if (equals == std::string_view::npos || equals == 0) return "";
  const bool path = std::ranges::all_of(word.substr(0, equals), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_' || c == '.';
  });
  const bool scalar = word.find_first_of("[{", equals) == std::string_view::npos;
  return path && scalar ? std::string(word) : "";
}

/// True if a word ends like the name of a configuration file.
bool names_configuration(std::string_view text) {
  return text.ends_with(".yml") || text.ends_with(".yaml") || text.ends_with(".json");
}

/// Finds configuration files by the last part of their paths.
class Configurations {
 public:
  Configurations(Sources files, const StartedCommand& command) : files_(files), command_(command) {}

  /// Adds the file that a word names; false if there is none. `must`: fails if there is none.
  bool add_named(const ShellWord& word, bool must) {
    const std::string name = launch_scripts::path_base_name(word.text);
    for (const std::string& one : {name, name + ".yml", name + ".yaml"}) {
      if (const auto* file = find_command_file(one, files_, command_)) return add(*file);
    }
    if (!must) return false;
    fail_for_missing_file(word, command_);
  }
  /// Returns the added files, followed by the other given files.
  std::vector<SourceFile> all() && {
    for (const SourceFile& file : files_) {
      const bool there = std::ranges::find(taken_, file.name, &SourceFile::name) != taken_.end();
      if (!there) taken_.push_back(file);
    }
    return std::move(taken_);
  }
  [[nodiscard]] bool empty() const { return taken_.empty(); }

 private:
  bool add(const SourceFile& file) {
    if (std::ranges::find(taken_, file.name, &SourceFile::name) == taken_.end()) {
      taken_.push_back(file);
    }
    return true;
  }

  Sources files_;
  const StartedCommand& command_;
  std::vector<SourceFile> taken_;
};

/// True for an option, or for a prefix of exactly one option, which argparse accepts.
bool names_option(std::string_view name, std::span<const std::string_view> options) {
  if (std::ranges::find(options, name) != options.end()) return true;
  if (name.size() < 4 || !name.starts_with("--")) return false;
  return std::ranges::count_if(options,
                               [&](std::string_view one) { return one.starts_with(name); }) == 1;
}

}  // namespace

ConfigurationFileRun read_run_from_configuration_files(Sources files, const UserFacts& given,
                                                       const ConfigurationFileProgram& program,
                                                       JobRankCounts& extent,
                                                       StartedTrainingProgram& start,
                                                       ImportReport& report) {
  const SplitScriptFiles parted = split_script_files(files);
  const StartedProgramRule started{.framework = program.framework,
                                   .arguments = program.arguments,
                                   .starts = target_command_predicate(program.target),
                                   .has_argument = is_name_value_argument};
  const StartedCommand command = find_started_command(parted.scripts, given, started, report);
  start = training_program_started_by_command(command);
  start.environment = command.environment;
  start.launchers = command.launchers;
  const auto read_ranks =
      program.starts_processes ? read_rank_counts_without_launcher : read_launcher_rank_counts;
  read_ranks(command, extent, report);
  if (program.hydra) check_hydra_words(command);
  Configurations found(parted.others, command);
  ConfigurationFileRun run{.files = {}, .given = given, .words = {}};
  run.given.settings.clear();
  const std::vector<ShellWord>& words = command.words;
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::string& text = words[i].text;
    const std::size_t equals = std::min(text.find('='), text.size());
    const std::string_view name = std::string_view(text).substr(0, equals);
    const bool option = names_option(name, program.options);
    if (option && equals < text.size()) {
      ShellWord value = words[i];
      value.text.erase(0, equals + 1);
      found.add_named(value, true);
    } else if (option && i + 1 < words.size()) {
      found.add_named(words[++i], true);
    } else if (program.unnamed && !text.starts_with('-')) {
      found.add_named(words[i], names_configuration(text));
    } else if (program.overrides) {
      if (!text.starts_with('-')) run.words.push_back(text);
      if (std::string setting = setting_of(text); !setting.empty()) {
        run.given.settings.push_back(std::move(setting));
      }
    }
  }
  if (found.empty()) {
    fail_input(fmt::format("{}:{}: the command names no configuration that was given ({})",
                           command.file, words.front().line, program.arguments));
  }
  run.given.settings.insert(run.given.settings.end(), command.arguments_given.begin(),
                            command.arguments_given.end());
  run.files = std::move(found).all();
  return run;
}

}  // namespace stepwright::framework_files

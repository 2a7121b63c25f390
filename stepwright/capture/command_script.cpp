#include "stepwright/capture/command_script.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <string_view>

#include "stepwright/capture/batch_names.h"
#include "stepwright/capture/tools.h"
#include "stepwright/core/quoting.h"
#include "stepwright/core/utf8.h"
#include "stepwright/launch_scripts/text.h"

namespace stepwright::capture {
namespace {

bool is_variable_name(std::string_view name) {
  return !name.empty() && std::isdigit(static_cast<unsigned char>(name.front())) == 0 &&
         std::ranges::all_of(name,
                             [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
}

/// True for an option that repeats `nodes` or `devices_per_node`, or that spans two lines.
bool is_said_otherwise(std::string_view option) {
  static constexpr std::string_view kSaid[] = {"--nodes", "--gpus", "--gres", "-N", "-G"};
  return option.find('\n') != std::string_view::npos ||
         std::ranges::any_of(kSaid,
                             [&](std::string_view said) { return option.starts_with(said); });
}

/// Returns the launcher's words. An mpirun that takes the number of processes from its job gets it
/// as an option.
Words with_process_count(const CapturedLaunchCommand& command) {
  static constexpr std::string_view kLaunchers = "mpirun mpiexec orterun mpiexec.hydra";
  static constexpr std::string_view kCounts = "-np --np -n --n -c -H -host --host";
  Words words = command.launcher;
  const auto size = command.environment.find("OMPI_COMM_WORLD_SIZE");
  if (words.empty() || size == command.environment.end()) return words;
  const bool counted = std::ranges::any_of(
      words, [](const std::string& word) { return word_list_contains(kCounts, word); });
  if (word_list_contains(kLaunchers, launch_scripts::last_path_part(words.front())) && !counted) {
    words.insert(words.begin() + 1, {"-np", size->second});
  }
  return words;
}

/// Returns the variables that have the same value in all commands.
std::map<std::string, std::string> shared_environment(
    std::span<const CapturedLaunchCommand> commands) {
  std::map<std::string, std::string> shared = commands.front().environment;
  for (const CapturedLaunchCommand& command : commands) {
    std::erase_if(shared, [&](const auto& entry) {
      const auto found = command.environment.find(entry.first);
      return found == command.environment.end() || found->second != entry.second;
    });
  }
  return shared;
}

std::string header_of(const CapturedLaunchCommand& command) {
  std::string script = "#!/bin/bash\n";
  if (command.nodes) script += fmt::format("#SBATCH --nodes={}\n", *command.nodes);
  if (command.devices_per_node) {
    script += fmt::format("#SBATCH --gpus-per-node={}\n", *command.devices_per_node);
  }
  if (command.scheduler != "slurm") return script;
  for (const std::string& option : command.batch_options) {
    if (is_said_otherwise(option)) continue;
    const bool is_long = option.starts_with("--");
    script += fmt::format("#SBATCH {}\n",
                          is_long ? quoted_for_shell(option) : one_line_printable_text(option));
  }
  return script;
}

/// Returns NAME=VALUE, quoted for a shell, for each variable that is not in `but`.
std::vector<std::string> assignments(const std::map<std::string, std::string>& environment,
                                     const std::map<std::string, std::string>& but) {
  std::vector<std::string> words;
  for (const auto& [name, value] : environment) {
    if (!is_variable_name(name) || but.contains(name)) continue;
    words.push_back(fmt::format("{}={}", name, quoted_for_shell(value)));
  }
  return words;
}

}  // namespace

std::string captured_command_as_script(std::span<const CapturedLaunchCommand> commands) {
  const std::map<std::string, std::string> shared = shared_environment(commands);
  std::string script = header_of(commands.front());
  for (const std::string& word : assignments(shared, {})) script += "export " + word + "\n";
  for (const CapturedLaunchCommand& command : commands) {
    for (const std::string& word : assignments(command.environment, shared)) script += word + " ";
    Words words = with_process_count(command);
    words.insert(words.end(), command.argv.begin(), command.argv.end());
    script += quoted_for_shell(words) + "\n";
  }
  return script;
}

std::string captured_command_as_script(const CapturedLaunchCommand& command) {
  return captured_command_as_script({&command, 1});
}

}  // namespace stepwright::capture

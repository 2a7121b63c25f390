#include "stepwright/launch_scripts/command_script.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string_view>

#include "stepwright/launch_scripts/option_words.h"
#include "stepwright/launch_scripts/shell_quoted.h"
#include "stepwright/launch_scripts/tools.h"

namespace stepwright::launch_scripts {
namespace {

bool is_variable_name(std::string_view name) {
  return !name.empty() && std::isdigit(static_cast<unsigned char>(name.front())) == 0 &&
         std::ranges::all_of(name,
                             [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
}

/// True for an option that `nodes` and `devices_per_node` say already, or that spans two lines.
bool is_said_otherwise(std::string_view option) {
  static constexpr std::string_view kSaid[] = {"--nodes", "--gpus", "--gres", "-N", "-G"};
  return option.find('\n') != std::string_view::npos ||
         std::ranges::any_of(kSaid,
                             [&](std::string_view said) { return option.starts_with(said); });
}

/// The launcher's words; mpirun that takes the number of processes from its job names it.
Words with_process_count(const CapturedCommand& command) {
  static constexpr std::string_view kLaunchers = "mpirun mpiexec orterun mpiexec.hydra";
  static constexpr std::string_view kCounts = "-np --np -n --n -c -H -host --host";
  Words words = command.launcher;
  const auto size = command.environment.find("OMPI_COMM_WORLD_SIZE");
  if (words.empty() || size == command.environment.end()) return words;
  const bool counted =
      std::ranges::any_of(words, [](const std::string& word) { return holds_word(kCounts, word); });
  if (holds_word(kLaunchers, base_name(words.front())) && !counted) {
    words.insert(words.begin() + 1, {"-np", size->second});
  }
  return words;
}

}  // namespace

std::string script_of(const CapturedCommand& command) {
  std::string script = "#!/bin/bash\n";
  if (command.nodes) script += fmt::format("#SBATCH --nodes={}\n", *command.nodes);
  if (command.devices_per_node) {
    script += fmt::format("#SBATCH --gpus-per-node={}\n", *command.devices_per_node);
  }
  if (command.scheduler == "slurm") {
    for (const std::string& option : command.batch_options) {
      if (is_said_otherwise(option)) continue;
      const bool is_long = option.starts_with("--");
      script += fmt::format("#SBATCH {}\n", is_long ? shell_quoted(option) : option);
    }
  }
  for (const auto& [name, value] : command.environment) {
    if (is_variable_name(name)) script += fmt::format("export {}={}\n", name, shell_quoted(value));
  }
  Words words = with_process_count(command);
  words.insert(words.end(), command.argv.begin(), command.argv.end());
  return script + shell_quoted(words) + "\n";
}

}  // namespace stepwright::launch_scripts

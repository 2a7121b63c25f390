#include "stepwright/framework_files/primus/script.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "stepwright/core/error.h"
#include "stepwright/core/scalar.h"
#include "stepwright/core/utf8.h"
#include "stepwright/framework_files/launchers/command_words.h"
#include "stepwright/framework_files/launchers/started.h"
#include "stepwright/framework_files/launchers/torchrun.h"
#include "stepwright/framework_files/recognition/embedded.h"
#include "stepwright/framework_files/recognition/target_data.h"
#include "stepwright/launch_scripts/shell/batch.h"
#include "stepwright/launch_scripts/shell/state.h"

namespace stepwright::framework_files {
namespace {

constexpr std::string_view kCommand = "primus-cli";

/// Scripts of Primus that start training: AMD-AGI/Primus examples/run_pretrain.sh and those that
/// run it (run_local_pretrain.sh, run_slurm_pretrain.sh, their _cli forms), runner/primus-cli.
constexpr std::string_view kStarters[] = {"run_pretrain.sh",           "run_local_pretrain.sh",
                                          "run_slurm_pretrain.sh",     "run_pretrain_cli.sh",
                                          "run_local_pretrain_cli.sh", "run_slurm_pretrain_cli.sh"};

/// Returns the index of "pretrain" in `train pretrain`, after which the program's arguments begin;
/// nullopt if the command starts something else, such as a benchmark.
std::optional<std::size_t> place_of_arguments(Words words) {
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::string& text = words[i].text;
    const bool trains = text == "pretrain" || text == "posttrain";
    if (trains && words[i - 1].text == "train") return i;
  }
  return std::nullopt;
}

/// Returns a value that the program evaluates in Python, in YAML's syntax.
std::string yaml_value(const std::string& text) {
  if (const auto truth = parse_boolean_word(text)) return *truth ? "true" : "false";
  return text == "None" ? "null" : text;
}

/// Reads the nodes of `primus-cli slurm -N 8`, and those in variables that its launcher reads.
void read_primus_extent(Words front, const StartedCommand& command, JobRankCounts& extent) {
  if (const auto nodes = launch_scripts::launcher_option_number(front, "--nodes", "-N"))
    extent.nodes = nodes;
  const bool direct =
      std::ranges::any_of(front, [](const ShellWord& word) { return word.text == "direct"; });
  if (!extent.nodes) extent.nodes = positive_environment_number(command, "NNODES");
  if (!extent.nodes && direct && !command.environment.contains("NNODES")) extent.nodes = 1;
  if (!extent.devices_of_node) {
    extent.devices_of_node = positive_environment_number(command, "GPUS_PER_NODE");
  }
}

SourceFile experiment_named(const ShellWord& path, Sources files, const StartedCommand& command) {
  if (const auto* file =
          find_command_file(launch_scripts::path_base_name(path.text), files, command))
    return *file;
  fail_for_missing_file(path, command);
}

/// Returns a setting with its full path: "modules.pre_trainer.overrides.micro_batch_size=4".
std::string override_of(std::string_view module, std::string name, const std::string& value) {
  if (name.starts_with("modules.")) return fmt::format("{}={}", name, value);
  return fmt::format("modules.{}.overrides.{}={}", module, name, value);
}

/// The given files, divided as a script of Primus needs them.
struct PrimusFiles {
  std::vector<SourceFile> scripts;  ///< The user's scripts, followed by those of Primus.
  std::vector<SourceFile> others;
};

/// Separates scripts from other files. Scripts of Primus are replaced by built-in ones that do the
/// same for all backends.
PrimusFiles sorted_files(Sources files) {
  PrimusFiles sorted;
  for (const SourceFile& file : files) {
    const std::string name = launch_scripts::path_base_name(file.name);
    if (name == kCommand || std::ranges::find(kStarters, name) != std::end(kStarters)) continue;
    (is_shell_script(file) ? sorted.scripts : sorted.others).push_back(file);
  }
  if (sorted.scripts.empty()) {
    fail_input("primus: give the script that starts it, or its experiment");
  }
  for (const std::string_view name : kStarters) {
    sorted.scripts.push_back(
        {std::string(name), std::string(embedded_file_text("primus/run_pretrain"))});
  }
  sorted.scripts.push_back(
      {std::string(kCommand), std::string(embedded_file_text("primus/primus_cli"))});
  return sorted;
}

/// The experiment that a command names, and the settings that its words and the user change in it.
struct PrimusWords {
  ShellWord experiment;
  std::vector<std::string> settings;
};

/// Adds the dashes that words can lack: "key=value" means "--key=value"; AMD-AGI/Primus
/// parse_cli_overrides.
std::vector<ShellWord> with_dashes(Words words) {
  std::vector<ShellWord> made(words.begin(), words.end());
  bool taken = false;  // True if the option before the word takes it as its value.
  for (ShellWord& word : made) {
    const bool option = word.text.starts_with("--");
    const bool says = word.text.find('=') != std::string::npos;
    if (!option && !taken && says) word.text.insert(0, "--");
    taken = option && !says;
  }
  return made;
}

/// Reads the words of a command from "pretrain" or "posttrain" on (AMD-AGI/Primus
/// primus/core/launcher/parser.py: _parse_kv_overrides).
PrimusWords primus_words(Words arguments, const StartedCommand& command,
                         const std::string& source) {
  const std::string_view module =
      arguments.front().text == "posttrain" ? "post_trainer" : "pre_trainer";
  PrimusWords said;
  for (const auto& [name, value] : command_options(with_dashes(arguments))) {
    if (name == "config" || name == "exp") {
      said.experiment = value;
    } else if (name != "backend_path" && name != "export_config" && name != "data_path") {
      said.settings.push_back(override_of(module, name, yaml_value(value.text)));
    }
  }
  if (said.experiment.text.empty()) {
    fail_input(fmt::format("{}: the command names no experiment (--config FILE.yaml)", source));
  }
  for (const std::string& setting : command.arguments_given) {
    const std::size_t equals = setting.find('=');
    std::string name = setting.substr(0, equals);
    name.erase(0, name.find_first_not_of('-'));
    said.settings.push_back(override_of(module, name, setting.substr(equals + 1)));
  }
  return said;
}

}  // namespace

PrimusRun read_primus_script(Sources files, const UserFacts& given, JobRankCounts& extent,
                             StartedTrainingProgram& start, ImportReport& report) {
  const PrimusFiles sorted = sorted_files(files);
  const StartedProgramRule program{.framework = "Primus",
                                   .arguments = "train pretrain --config FILE.yaml",
                                   .starts = target_command_predicate("primus"),
                                   .has_argument = is_name_value_argument};
  const StartedCommand command = find_started_command(sorted.scripts, given, program, report);
  const std::string& source = sorted.scripts.front().name;
  start.source = source;
  start.program = command.words.front().text;
  start.environment = command.environment;
  start.launchers = command.launchers;
  read_launcher_rank_counts(command, extent, report);
  const Words words(command.words);
  const std::size_t place = place_of_arguments(words).value_or(0);
  read_primus_extent(words.first(place), command, extent);
  PrimusWords said = primus_words(words.subspan(place), command, source);
  PrimusRun run{.file = experiment_named(said.experiment, sorted.others, command),
                .others = {},
                .given = given,
                .environment = {}};
  for (const SourceFile& file : sorted.others) {
    if (file.name != run.file.name) run.others.push_back(file);
  }
  run.given.settings = std::move(said.settings);
  for (const auto& [name, value] : command.environment) run.environment[name] = value.text;
  return run;
}

}  // namespace stepwright::framework_files

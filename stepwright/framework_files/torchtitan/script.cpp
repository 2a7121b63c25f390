#include "stepwright/framework_files/torchtitan/script.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <string>
#include <vector>

#include "stepwright/core/error.h"
#include "stepwright/core/utf8.h"
#include "stepwright/framework_files/draft/tables.h"
#include "stepwright/framework_files/huggingface/command_fields.h"
#include "stepwright/framework_files/launchers/command_words.h"
#include "stepwright/framework_files/launchers/environment.h"
#include "stepwright/framework_files/launchers/started.h"
#include "stepwright/framework_files/launchers/torchrun.h"
#include "stepwright/framework_files/recognition/embedded.h"
#include "stepwright/framework_files/recognition/target_data.h"
#include "stepwright/framework_files/torchtitan/form.h"
#include "stepwright/launch_scripts/shell/state.h"
#include "stepwright/launch_scripts/shell/words.h"

namespace stepwright::framework_files {
namespace {

constexpr std::string_view kRunTrain = "run_train.sh";

std::vector<CommandOption> titan_options(Words words) {
  std::vector<CommandOption> options = command_options(words);
  for (auto& [name, value] : options) std::ranges::replace(name, '-', '_');
  return options;
}

/// Returns the words that override the file, for sections that a plan reads.
std::vector<std::string> settings_over(const std::vector<CommandOption>& options) {
  static constexpr std::array<std::string_view, 11> kSections = {
      "model",  "training",     "parallelism", "optimizer", "compile", "activation_checkpoint",
      "float8", "experimental", "quantize",    "mx",        "debug"};
  std::vector<std::string> settings;
  for (const auto& [name, value] : options) {
    const std::size_t dot = name.find('.');
    if (dot == std::string::npos || !launch_scripts::is_one_of(name.substr(0, dot), kSections))
      continue;
    const std::size_t last = name.rfind('.') + 1;
    const bool off = value.text == "true" && name.substr(last).starts_with("no_");
    settings.push_back(off ? fmt::format("{}{}=false", name.substr(0, last), name.substr(last + 3))
                           : fmt::format("{}={}", name, value.text));
  }
  return settings;
}

/// Returns the registry that has the function named by `--config`, followed by the other given
/// ones.
std::vector<SourceFile> registries_with(const ShellWord& function, Sources files,
                                        const StartedCommand& command) {
  std::vector<SourceFile> registries;
  std::ranges::copy_if(files, std::back_inserter(registries),
                       [](const SourceFile& file) { return file.name.ends_with(".py"); });
  const std::string definition = fmt::format("def {}(", function.text);
  const auto found = std::ranges::find_if(
      registries, [&](const SourceFile& file) { return file_contains_text(file, definition); });
  if (found == registries.end()) {
    fail_input(
        fmt::format("{}:{}: names the function {}(): give the file of its registry "
                    "(config_registry.py of the --module), too",
                    command.file, function.line, one_line_printable_text(function.text)));
  }
  std::iter_swap(registries.begin(), found);
  return registries;
}

/// Returns the files of the configuration that a command names, and sets the registry's function.
std::vector<SourceFile> configuration_of(const std::vector<CommandOption>& options, Sources files,
                                         const StartedCommand& command, std::string& function) {
  const auto path = std::ranges::find(options, "job.config_file", &CommandOption::name);
  if (path != options.end()) {
    const std::string name = launch_scripts::path_base_name(path->value.text);
    if (const auto* file = find_command_file(name, files, command)) return {*file};
    fail_for_missing_file(path->value, command);
  }
  const auto named = std::ranges::find(options, "config", &CommandOption::name);
  if (named == options.end()) {
    fail_input(
        fmt::format("{}: its command names no --job.config_file and no --config", command.file));
  }
  function = named->value.text;
  return registries_with(named->value, files, command);
}

}  // namespace

PlanDraft read_titan_script(Sources files, const UserFacts& given, PlanDraft draft,
                            ImportReport& report) {
  auto [scripts, others] = split_script_files(files);
  const bool known = std::ranges::any_of(scripts, [](const SourceFile& file) {
    return launch_scripts::path_base_name(file.name) == kRunTrain;
  });
  if (!known)
    scripts.push_back(
        {std::string(kRunTrain), std::string(embedded_file_text("torchtitan/run_train"))});
  const StartedProgramRule program{
      .framework = "torchtitan",
      .arguments = "--job.config_file FILE.toml",
      .starts = target_command_predicate("torchtitan"),
      .has_argument = is_name_value_argument,
      .matters = step_relevant_argument_predicate(known_program_settings("torchtitan/settings"))};
  const StartedCommand command = find_started_command(scripts, given, program, report);
  draft.start = training_program_started_by_command(command);
  read_launcher_rank_counts(command, draft.extent, report);
  const std::vector<CommandOption> options = titan_options(command.command_words_with_overrides());
  UserFacts own = given;
  own.settings = settings_over(options);
  const std::vector<SourceFile> configuration =
      configuration_of(options, others, command, own.function);
  for (const auto& [name, value] : options) {
    if (!name.starts_with("fault_tolerance.enable")) continue;
    report.not_read.push_back({"--" + name, one_line_printable_text(value.text), command.file,
                               value.line, SettingImpact::kYes,
                               "groups of replicas that average gradients themselves"});
  }
  const TorchtitanConfiguration file = read_titan_configuration(configuration, own);
  set_titan_transformers_model(file, others, own, draft, report);
  draft = read_titan_plan(file, own, std::move(draft), report);
  read_environment_settings(command, draft, draft.extent, report);
  return draft;
}

}  // namespace stepwright::framework_files

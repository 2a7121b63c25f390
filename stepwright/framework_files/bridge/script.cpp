#include "stepwright/framework_files/bridge/script.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "stepwright/core/error.h"
#include "stepwright/core/utf8.h"
#include "stepwright/framework_files/draft/words_table.h"
#include "stepwright/framework_files/launchers/command_words.h"
#include "stepwright/framework_files/launchers/started.h"
#include "stepwright/framework_files/launchers/torchrun.h"
#include "stepwright/framework_files/recognition/target_data.h"
#include "stepwright/launch_scripts/shell/syntax.h"

namespace stepwright::framework_files {
namespace {

constexpr std::string_view kStarts = "bridge/starts";

/// Returns the value of an argument, given by its full name or its short form (`arguments` of the
/// table); nullopt if absent.
std::optional<std::string> argument_of(const std::vector<ShellWord>& words, std::string_view name) {
  const std::string_view brief = meaning_of_program_setting_word(kStarts, "arguments", name);
  std::optional<std::string> value;
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::string& text = words[i].text;
    const std::size_t equals = std::min(text.find('='), text.size());
    const std::string_view key = std::string_view(text).substr(0, equals);
    if (key != fmt::format("--{}", name) && (brief.empty() || key != brief)) continue;
    if (equals < text.size()) {
      value = text.substr(equals + 1);
    } else if (i + 1 < words.size()) {
      value = words[i + 1].text;
    }
  }
  return value;
}

/// The command that starts a performance recipe, in release 0.1 or later.
struct BridgeCommand {
  std::vector<ShellWord> words;
  std::string place;  ///< Position of the command: "run.sh:3".
};

std::string word_or(const BridgeCommand& command, std::string_view name, std::string_view usual) {
  return argument_of(command.words, name).value_or(std::string(usual));
}

/// Fails for release 0.1, whose recipe is a Python file next to the YAML file that overrides it
/// (scripts/performance/utils/helpers.py).
[[noreturn]] void fail_first_release(const BridgeCommand& command, const std::string& file) {
  fail_input(fmt::format(
      "{}: starts Megatron-Bridge's performance recipe of {} {} (release 0.1): give {}, too, with "
      "the "
      "recipe's own file, or the ConfigContainer.yaml that training writes",
      command.place, one_line_printable_text(word_or(command, "model_name", "a model")),
      one_line_printable_text(word_or(command, "model_size", "")),
      one_line_printable_text(launch_scripts::last_path_part(file))));
}

/// Returns the function name of a performance script's recipe: scripts/performance/utils/utils.py,
/// get_perf_optimized_recipe.
std::string recipe_function(const BridgeCommand& command) {
  return fmt::format("{}_{}_config_{}", word_or(command, "model_recipe_name", ""),
                     word_or(command, "task", "pretrain"), word_or(command, "gpu", "h100"));
}

/// True if a Python file defines a function.
bool defines(const SourceFile& file, std::string_view function) {
  return file_contains_text(file, fmt::format("def {}(", function));
}

/// Returns the arguments that override the recipe, as settings of its ConfigContainer.
std::vector<std::string> overrides_of(const BridgeCommand& command) {
  std::vector<std::string> settings;
  for (const auto& [name, path] : words_of_table_section(kStarts, "overrides")) {
    if (const auto value = argument_of(command.words, name)) {
      settings.push_back(fmt::format("{}={}", path, *value));
    }
  }
  return settings;
}

}  // namespace

MegatronBridgeRecipeRun read_megatron_bridge_script(Sources files, const UserFacts& given,
                                                    JobRankCounts& extent,
                                                    StartedTrainingProgram& start,
                                                    ImportReport& report) {
  SplitScriptFiles parted = split_script_files(files);
  MegatronBridgeRecipeRun run{
      .files = std::move(parted.others), .given = given, .devices = std::nullopt};
  const StartedProgramRule program{.framework = "Megatron-Bridge",
                                   .arguments = "run_script.py --model_recipe_name NAME",
                                   .starts = target_command_predicate("bridge"),
                                   .has_argument = is_name_value_argument};
  const StartedCommand started = find_started_command(parted.scripts, given, program, report);
  start = training_program_started_by_command(started);
  read_launcher_rank_counts(started, extent, report);
  const BridgeCommand command{started.words,
                              fmt::format("{}:{}", started.file, started.words.front().line)};
  if (const auto first = argument_of(command.words, "config_file"); first && run.files.empty()) {
    fail_first_release(command, *first);
  }
  const std::string function = recipe_function(command);
  const std::string precision = word_or(command, "compute_dtype", "bf16");
  const bool there = std::ranges::any_of(
      run.files, [&](const SourceFile& file) { return defines(file, function); });
  const bool container = std::ranges::any_of(
      run.files, [](const SourceFile& file) { return file.name.ends_with(".yaml"); });
  if (!there && !container) {
    fail_input(fmt::format(
        "{}: starts Megatron-Bridge's performance recipe {} with precision {}: give the files of "
        "scripts/performance/configs/{} that have this function and its workload, too, or the "
        "ConfigContainer.yaml that run_script.py --dryrun writes",
        command.place, one_line_printable_text(function), one_line_printable_text(precision),
        one_line_printable_text(word_or(command, "model_family_name", "FAMILY"))));
  }
  if (there) {
    run.given.function = fmt::format("{}(precision='{}')", function, precision);
    const auto own = std::ranges::find_if(
        run.files, [&](const SourceFile& file) { return defines(file, function); });
    std::rotate(run.files.begin(), own, own + 1);
  }
  run.given.settings = overrides_of(command);
  for (const std::string& setting : started.arguments_given) run.given.settings.push_back(setting);
  const auto devices = launch_scripts::shell_integer(word_or(command, "num_gpus", ""));
  if (devices && *devices > 0) run.devices = devices;
  return run;
}

}  // namespace stepwright::framework_files

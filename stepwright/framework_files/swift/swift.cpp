#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>

#include "stepwright/core/error.h"
#include "stepwright/core/tree.h"
#include "stepwright/framework_files/draft/fields.h"
#include "stepwright/framework_files/draft/tables.h"
#include "stepwright/framework_files/draft/words_table.h"
#include "stepwright/framework_files/forms/references.h"
#include "stepwright/framework_files/huggingface/command_fields.h"
#include "stepwright/framework_files/huggingface/hub_files.h"
#include "stepwright/framework_files/huggingface/launch_words.h"
#include "stepwright/framework_files/launchers/environment.h"
#include "stepwright/framework_files/launchers/started.h"
#include "stepwright/framework_files/launchers/torchrun.h"
#include "stepwright/framework_files/recognition/target_data.h"
#include "stepwright/framework_files/swift/megatron_words.h"
#include "stepwright/framework_files/swift/trainer_words.h"
#include "stepwright/framework_files/targets/code.h"
#include "stepwright/model/catalog.h"

namespace stepwright::framework_files {
namespace {

constexpr std::string_view kSwift = "ms-swift";

/// Fails if each process has several devices, over which ms-swift spreads the model's layers unless
/// ZeRO-3 or FSDP is used: swift/utils/torch_utils.py: get_default_device_map, is_mp.
void refuse_spread_layers(const StartedCommand& command, const UserFacts& given) {
  const auto processes = positive_environment_number(command, "NPROC_PER_NODE");
  const auto visible = cuda_visible_device_count(command);
  if (!processes || !visible || given.devices) return;
  const bool megatron = command_matches_target_rules(kSwift, command.words, "megatron") ||
                        command_matches_target_rules(kSwift, command.launchers, "megatron");
  const bool shares =
      megatron || std::ranges::any_of(command.words, [](const ShellWord& word) {
        return word.text.find("zero3") != std::string::npos || word.text.starts_with("--fsdp");
      });
  if (*visible < *processes) {
    fail_input(fmt::format(
        "{}: NPROC_PER_NODE starts {} processes, and CUDA_VISIBLE_DEVICES leaves them {} devices: "
        "the job does not start with fewer devices than processes",
        command.file, *processes, *visible));
  }
  if (*visible / *processes < 2 || shares) return;
  fail_unsupported(
      fmt::format("{}: each of {} processes spreads the layers over {} of the {} visible devices, "
                  "which no plan "
                  "has: NPROC_PER_NODE={} starts one for each",
                  command.file, *processes, *visible / *processes, *visible, *visible));
}

/// Sets the number of ranks to one if neither NPROC_PER_NODE nor NNODES is set (swift/cli/main.py:
/// use_torchrun). Fails if that process sees several devices, over which ms-swift spreads the
/// model's layers (swift/model/register.py: device_map).
void settle_one_process(const StartedCommand& command, const UserFacts& given,
                        JobRankCounts& extent, ImportReport& report) {
  const auto has = [&](const char* name) { return command.environment.contains(name); };
  refuse_spread_layers(command, given);
  if (has("NPROC_PER_NODE") || has("NNODES") || uses_process_launcher(command)) return;
  if (given.devices || given.nodes) return;
  if (extent.devices_of_node.value_or(1) > 1) {
    fail_unsupported(fmt::format(
        "{}: one process sees {} devices and spreads the layers over them, which no plan has: "
        "NPROC_PER_NODE starts one for each",
        command.file, *extent.devices_of_node));
  }
  extent.ranks = extent.nodes = 1;
  extent.devices_of_node.reset();
  report.add_assumption("job.cluster", "one process, as NPROC_PER_NODE is not set");
}

/// Replaces `--fsdp '{"fsdp": ..., "fsdp_config": {...}}'` by its contents:
/// swift/arguments/sft_args.py: _init_fsdp.
YamlJsonDocument with_written_fsdp(YamlJsonDocument said) {
  const auto fsdp = said.root().find("fsdp");
  if (!fsdp || !fsdp->is_scalar() || !fsdp->text().starts_with('{')) return said;
  const YamlJsonDocument written = YamlJsonDocument::parse(fsdp->text(), said.document_name());
  const FrameworkSettingsReader fields(written.root());
  DocumentTree config =
      fields.nested_settings("fsdp_config").node().copy_tree_with_file_positions();
  if (config.find("fsdp_version") == nullptr) config.set("fsdp_version", 2);
  drop_line_numbers(config);
  DocumentTree words(fields.word("fsdp", "full_shard auto_wrap"));
  DocumentTree all = said.root().copy_tree_with_file_positions();
  words.line = all.find("fsdp")->line;
  all.set("fsdp", words).set("fsdp_config", std::move(config));
  return YamlJsonDocument::from_tree(std::move(all), said.document_name());
}

/// Current names of settings, with the names in the file.
using RenamedWords = std::map<std::string, std::string>;

/// Renames arguments of ms-swift 2 to the current ones; modelscope/ms-swift v2.6.1
/// swift/llm/utils/argument.py, SftArguments.
YamlJsonDocument with_second_words(YamlJsonDocument said, RenamedWords& renamed,
                                   ImportReport& report) {
  static constexpr std::string_view kOwn[] = {"sft_type", "model_id_or_path", "batch_size"};
  const auto has = [&](std::string_view key) { return said.root().find(key).has_value(); };
  if (std::ranges::none_of(kOwn, has)) return said;
  DocumentTree all = DocumentTree::make_empty_mapping();
  for (const auto& [key, value] : said.root().mapping_members()) {
    const std::string_view name = meaning_of_program_setting_word("swift/second", "names", key);
    const std::string_view word =
        value.is_scalar() ? meaning_of_program_setting_word("swift/second", "values", value.text())
                          : "";
    DocumentTree made = value.copy_tree_with_file_positions();
    if (!word.empty()) made.text = word;
    const std::string own(name.empty() ? std::string_view(key) : name);
    if (!name.empty()) renamed[own] = key;
    all.set(own, std::move(made));
  }
  for (const auto& [key, usual] : words_of_table_section("swift/second", "usual")) {
    if (all.find(key) == nullptr) all.set(key, DocumentTree::make_scalar(usual, false));
  }
  if (all.find("model") == nullptr) {
    if (const auto type = said.root().find("model_type")) {
      DocumentTree model(type->text());
      std::ranges::replace(model.text, '_', '.');
      model.line = type->source_line();
      all.set("model", std::move(model));
      renamed["model"] = "model_type";
    }
  }
  report.notes.emplace_back("The arguments are those of ms-swift 2, with its defaults.");
  return YamlJsonDocument::from_tree(std::move(all), said.document_name());
}

}  // namespace

PlanDraft read_swift(Sources files, const UserFacts& given, PlanDraft draft, ImportReport& report) {
  // Scripts that the first one runs.
  std::vector<const SourceFile*> others;
  std::vector<SourceFile> scripts;
  for (const SourceFile& file : files) {
    const bool first = scripts.empty() && file_matches_target_rules(kSwift, file, "script");
    const bool script = is_shell_script(file) || first;
    if (script) scripts.push_back(file);
    if (!script || scripts.size() == 1) others.push_back(&file);
  }
  TransformersProgramFiles sorted = sort_transformers_files(others);
  sorted.name = files.front().name;
  if (sorted.program == nullptr) fail_input(sorted.name + ": starts no ms-swift");
  if (sorted.programs.size() > 1) {
    fail_input(sorted.programs[1]->name + ": is a second file of the program");
  }
  if (sorted.model) draft.model = model::read_huggingface_config(*sorted.model, &report.notes);
  const SourceFile& file = *sorted.program;
  draft.start.source = file.name;
  if (!file_matches_target_rules(kSwift, file, "script")) {
    const YamlJsonDocument document = program_settings_document(sorted, given);
    return read_swift_trainer_arguments(FrameworkSettingsReader(document.root()), sorted, given,
                                        std::move(draft), report);
  }
  const StartedProgramRule program{
      .framework = "ms-swift",
      .arguments = "swift sft, megatron sft",
      .starts = target_command_predicate(kSwift),
      .has_argument = is_name_value_argument,
      .matters = step_relevant_argument_predicate(known_program_settings("swift/settings"))};
  const StartedCommand command = find_started_command(scripts, given, program, report);
  // The variables for torchrun are those of get_torchrun_args in swift/cli/main.py.
  read_rank_counts_without_launcher(command, draft.extent, report);
  settle_one_process(command, given, draft.extent, report);
  if (command_matches_target_rules(kSwift, command.words, "megatron") ||
      command_matches_target_rules(kSwift, command.launchers, "megatron")) {
    draft = read_swift_megatron_arguments(command.command_words_with_overrides(), file.name, given,
                                          std::move(draft), report);
  } else {
    read_accelerate_launch_options(command, sorted, report);
    RenamedWords second;
    YamlJsonDocument said = with_second_words(
        YamlJsonDocument::from_tree(
            command_arguments_as_mapping(command.command_words_with_overrides()), file.name),
        second, report);
    const YamlJsonDocument document =
        with_fsdp_file_contents(with_written_fsdp(std::move(said)), sorted);
    draft = read_swift_trainer_arguments(FrameworkSettingsReader(document.root()), sorted, given,
                                         std::move(draft), report);
    each_setting(report, [&](auto& setting) {
      const auto old = second.find(setting.name);
      if (old != second.end()) setting.name = old->second;
    });
  }
  read_environment_settings(command, draft, draft.extent, report);
  return draft;
}

}  // namespace stepwright::framework_files

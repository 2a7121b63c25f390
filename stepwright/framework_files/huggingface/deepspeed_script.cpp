#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stepwright/core/error.h"
#include "stepwright/core/python_document.h"
#include "stepwright/core/utf8.h"
#include "stepwright/framework_files/draft/tables.h"
#include "stepwright/framework_files/huggingface/command_fields.h"
#include "stepwright/framework_files/huggingface/deepspeed.h"
#include "stepwright/framework_files/huggingface/hub_script.h"
#include "stepwright/framework_files/huggingface/trainer.h"
#include "stepwright/framework_files/launchers/command_words.h"
#include "stepwright/framework_files/launchers/environment.h"
#include "stepwright/framework_files/launchers/torchrun.h"
#include "stepwright/framework_files/targets/code.h"
#include "stepwright/model/catalog.h"

namespace stepwright::framework_files {
namespace {

constexpr std::string_view kPlaces[] = {"deepspeed_config", "deepspeed-config", "ds_config",
                                        "ds-config", "deepspeed"};
constexpr std::string_view kModels[] = {
    "model_name_or_path", "model_name", "model_path",      "model_id",
    "base_model",         "model",      "base_model_name", "pretrained_model_name_or_path"};
constexpr std::string_view kLengths[] = {
    "max_seq_length", "max_seq_len",     "max_length",     "model_max_length", "block_size",
    "seq_length",     "sequence_length", "context_length", "seq_len",          "max_len"};

/// Returns the path of the DeepSpeed configuration that a command names; nullopt: none.
std::optional<ShellWord> configuration_named(Words words) {
  for (const auto& [name, value] : command_options(words)) {
    const bool place = std::ranges::find(kPlaces, name) != std::end(kPlaces);
    if (place && value.text.ends_with(".json")) return value;
  }
  return std::nullopt;
}

/// Returns the first of these arguments that is set; nullopt: none is.
std::optional<DocumentNode> first_of(const FrameworkSettingsReader& arguments,
                                     std::span<const std::string_view> names) {
  for (const std::string_view name : names) {
    const auto value = arguments.node().find(name);
    if (value && value->is_scalar() && !value->is_null()) return arguments.find(name);
  }
  return std::nullopt;
}

constexpr std::string_view kMicroBatches[] = {"train_micro_batch_size_per_gpu", "micro_batch_size",
                                              "per_device_train_batch_size", "batch_size"};

/// Adds the batch that a program puts into a configuration without one, as DeepSpeed requires. Many
/// programs do; one is microsoft/LMOps minillm/utils.py: initialize.
YamlJsonDocument with_batch(YamlJsonDocument said, const FrameworkSettingsReader& arguments,
                            ImportReport& report) {
  DocumentTree all = said.root().copy_tree_with_file_positions();
  const auto lacks = [&](std::string_view key) {
    const DocumentTree* value = all.find(key);
    return value == nullptr || value->text == "auto";
  };
  if (!lacks("train_micro_batch_size_per_gpu") || !lacks("train_batch_size")) return said;
  const auto micro = first_of(arguments, kMicroBatches);
  if (!micro) return said;
  all.set("train_micro_batch_size_per_gpu", micro->integer(1));
  report.add_assumption("micro_batch", "the program's batch is taken as that of a device");
  if (lacks("gradient_accumulation_steps")) {
    all.set("gradient_accumulation_steps", arguments.integer("gradient_accumulation_steps", 1));
  }
  return YamlJsonDocument::from_tree(std::move(all), said.document_name());
}

PlanDraft read_arguments(const FrameworkSettingsReader& arguments, const UserFacts& given,
                         PlanDraft draft, ImportReport& report) {
  if (const auto model = first_of(arguments, kModels))
    set_model_by_hub_id(*model, given, draft, report);
  for (const std::string_view name : kLengths) {
    if (!draft.batch.length) draft.batch.length = arguments.size(name);
  }
  for (const std::string_view name : {"gradient_checkpointing", "activation_checkpointing"}) {
    if (arguments.flag(name, false)) draft.plan.recompute.kind = plan::RecomputeKind::kFull;
  }
  return draft;
}

}  // namespace

PlanDraft read_deepspeed_script(Sources files, const UserFacts& given, PlanDraft draft,
                                ImportReport& report) {
  const StartedProgramRule program{.framework = "DeepSpeed",
                                   .arguments = "--deepspeed_config FILE.json",
                                   .starts = starts_with_deepspeed,
                                   .has_argument = is_name_value_argument};
  const SourceFile& first = *std::ranges::find_if(files, is_shell_script);
  const TransformersScriptRun script =
      read_transformers_script(first, files, given, program, draft.start, report);
  const StartedCommand& command = script.command;
  const std::vector<ShellWord> words = command.command_words_with_overrides();
  const ShellWord path = configuration_named(words).value();
  if (script.files.deepspeed == nullptr) fail_for_missing_file(path, command);
  if (script.files.model)
    draft.model = model::read_huggingface_config(*script.files.model, &report.notes);
  const YamlJsonDocument said =
      YamlJsonDocument::from_tree(command_arguments_as_mapping(words), command.file);
  const FrameworkSettingsReader arguments(said.root());
  for (const std::string_view name : kPlaces) arguments.mark_setting_read(name);
  check_is_training(arguments);
  draft = read_arguments(arguments, given, std::move(draft), report);
  read_launcher_rank_counts(command, draft.extent, report);
  UserFacts own = given;
  own.settings.clear();
  const SourceFile& file = *script.files.deepspeed;
  draft = read_deepspeed_configuration(
      with_batch(parse_like_python_yaml(file.text, file.name), arguments, report), own,
      std::move(draft), report);
  const ShellWord& started = command.words.front();
  report.not_read.push_back(
      {one_line_printable_text(started.text), "", command.file, started.line, SettingImpact::kMaybe,
       "a program of its own: recomputation, kernels and what it trains of the model are known as "
       "far as its arguments say them"});
  report_read_and_unread_settings(arguments, command.file,
                                  known_program_settings("huggingface/deepspeed_script"), report);
  read_environment_settings(command, draft, draft.extent, report);
  return draft;
}

bool starts_with_deepspeed(Words words) {
  const bool program =
      std::ranges::any_of(words, [](const ShellWord& word) { return word.text.ends_with(".py"); });
  return program && configuration_named(words).has_value();
}

}  // namespace stepwright::framework_files

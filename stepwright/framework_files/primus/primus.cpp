#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stepwright/core/error.h"
#include "stepwright/core/lower_case.h"
#include "stepwright/core/mapping_builder.h"
#include "stepwright/core/tree_members.h"
#include "stepwright/core/utf8.h"
#include "stepwright/framework_files/draft/fields.h"
#include "stepwright/framework_files/draft/tables.h"
#include "stepwright/framework_files/draft/words_table.h"
#include "stepwright/framework_files/forms/parents.h"
#include "stepwright/framework_files/forms/references.h"
#include "stepwright/framework_files/maxtext/maxtext.h"
#include "stepwright/framework_files/megatron/arguments.h"
#include "stepwright/framework_files/megatron/carried_fields.h"
#include "stepwright/framework_files/primus/script.h"
#include "stepwright/framework_files/recognition/target_data.h"
#include "stepwright/framework_files/targets/code.h"
#include "stepwright/framework_files/torchtitan/form.h"
#include "stepwright/model/catalog.h"

namespace stepwright::framework_files {
namespace {

/// Returns Primus's defaults for values that Megatron-LM requires or defaults differently:
/// trainer_base.yaml, pre_trainer.yaml.
DocumentTree primus_defaults() {
  DocumentTree usual = DocumentTree::make_empty_mapping();
  usual.set("micro_batch_size", 2).set("global_batch_size", 16).set("seq_length", 1024);
  usual.set("use_distributed_optimizer", true);
  return usual.set("precision", "bf16");
}

/// Returns Primus's defaults for fine-tuning: sft_trainer.yaml.
DocumentTree primus_tuning_defaults() {
  DocumentTree usual = primus_defaults();
  return usual.set("micro_batch_size", 1).set("global_batch_size", 128).set("seq_length", 2048);
}

/// Converts flags that YAML files write as 0 and 1, and number types that are flags in Megatron-LM.
void read_flags_of_yaml(DocumentTree& fields) {
  for (const std::string_view flag : {"sequence_parallel", "overlap_grad_reduce"}) {
    DocumentTree* value = fields.find(flag);
    if (value != nullptr && (value->text == "1" || value->text == "0")) {
      value->text = value->text == "1" ? "true" : "false";
    }
  }
  const DocumentTree* half = fields.find("fp16");
  const DocumentTree* brain = fields.find("bf16");
  const auto on = [](const DocumentTree* flag) { return flag != nullptr && flag->text == "true"; };
  if (on(brain) || on(half)) {
    DocumentTree word(on(half) ? "fp16" : "bf16");
    word.line = (on(half) ? half : brain)->line;
    fields.set("precision", word);
  }
  const DocumentTree* wide = fields.find("accumulate_allreduce_grads_in_fp32");
  if (on(wide)) fields.set("grad_reduce_in_fp32", *wide);
}

/// Renames overrides that are called like arguments of Megatron-LM, with underscores
/// (primus/configs/modules/megatron/trainer_base.yaml, language_model.yaml). Overrides without
/// effect are reported as such.
DocumentTree with_arguments(const DocumentTree& said, const std::string& file,
                            ImportReport& report) {
  TreeMappingBuilder fields;
  std::vector<std::pair<std::string_view, DocumentTree>> added;
  for (const auto& [name, value] : tree_members(said)) {
    std::string flag = "--" + name;
    std::ranges::replace(flag, '_', '-');
    const bool known =
        find_known_setting(known_program_settings("megatron/settings"), name) != nullptr ||
        find_known_setting(known_program_settings("primus/settings"), name) != nullptr;
    const auto argument = known ? std::nullopt : find_megatron_argument(flag);
    if (!argument || value.kind == DocumentTree::TreeValueKind::kNull) {
      fields.set(name, value);
    } else if (argument->field.empty()) {
      report.not_read.push_back({one_line_printable_text(name), one_line_printable_text(value.text),
                                 file, value.line, SettingImpact::kNo, ""});
    } else if (argument->arity != ArgumentValueCount::kNone) {
      added.emplace_back(argument->field, value);
    } else if (value.text == "true" || value.text == "True") {
      DocumentTree word = DocumentTree::make_scalar(std::string(argument->value), false);
      word.line = value.line;
      added.emplace_back(argument->field, std::move(word));
    }
  }
  // A field under its own name has precedence.
  for (auto& [field, value] : added) {
    if (fields.find(field) == nullptr) fields.set(field, std::move(value));
  }
  return fields.finished_mapping();
}

/// Replaces the dispatcher by DeepEP if Primus-Turbo does:
/// primus/backends/megatron/patches/turbo/moe_dispatcher_patches.py.
void take_turbo_dispatcher(DocumentTree& fields) {
  const auto on = [&](std::string_view key) {
    const DocumentTree* flag = fields.find(key);
    return flag != nullptr && flag->text == "true";
  };
  if (!on("enable_primus_turbo") || !on("use_turbo_deepep")) return;
  DocumentTree word("flex");
  word.line = fields.find("use_turbo_deepep")->line;
  fields.set("moe_token_dispatcher_type", word);
}

/// Returns the name under which "primus/models" lists a trainer's model file.
std::string primus_model(const FrameworkSettingsReader& trainer) {
  std::string file = to_lower_case(trainer.word("model", ""));
  for (const std::string_view end : {".yaml", "-fp8", "-bf16"}) {
    if (file.ends_with(end)) file.erase(file.size() - end.size());
  }
  return file;
}

void name_primus_model(const FrameworkSettingsReader& trainer, const UserFacts& given,
                       StatedModel& model_words, ImportReport& report) {
  const std::string whole = trainer.word("model", "");
  if (given.known_model || whole.empty()) return;
  const std::string_view known =
      meaning_of_program_setting_word("primus/models", "models", primus_model(trainer));
  if (known.empty()) {
    trainer.find("model")->fail(
        fmt::format("names {}, which is none of the built-in models: give this file, too, or "
                    "--model",
                    one_line_printable_text(whole)));
  }
  // primus/configs/models/megatron/gpt_oss_20B.yaml overrides DeepSeek's: it has a shared expert
  // and DeepSeek's tokenizer, but no attention sinks and no windows.
  if (known.starts_with("gpt-oss") && trainer.word("framework", "megatron") == "megatron") {
    trainer.find("model")->fail(
        fmt::format("has sizes of its own in Primus for Megatron-LM, not those of the released "
                    "model: --model says them (or {}, where its own are near enough)",
                    known));
  }
  model_words.model = model::built_in_model(known);
  report.notes.push_back(
      fmt::format("{} is assumed to be the model {}.", one_line_printable_text(whole), known));
}

/// Keys by which files name the files that they override: AMD-AGI/Primus
/// primus/core/config/yaml_loader.py (extends), primus/core/utils/yaml_utils.py (includes).
constexpr ParentConfigurationKey kParentKeys[] = {{.name = "includes", .replaces = true},
                                                  {.name = "extends"}};

/// Merges a file over the files that it names. Fails with `kInput` if one of them was not given.
DocumentTree with_parents(const SourceFile& file, Sources others,
                          std::vector<const SourceFile*>& together) {
  MergedConfiguration laid = merge_with_parent_files(file, others, kParentKeys);
  if (!laid.absent.empty()) {
    fail_input(fmt::format("{}: goes over {}, which is in none of the files: give it, too",
                           file.name, one_line_printable_text(laid.absent.front())));
  }
  for (const SourceFile* one : laid.together) together.push_back(one);
  return std::move(laid.tree);
}

using Environment = std::map<std::string, std::string>;

/// Returns the file, among those that the user gave, that a trainer's settings name under a key,
/// perhaps by `${NAME:default}`; null if there is none.
const SourceFile* named_beside(const DocumentTree& trainer, std::string_view key, Sources files,
                               const Environment& environment) {
  const DocumentTree* name = trainer.find(key);
  if (name == nullptr || name->kind != DocumentTree::TreeValueKind::kScalar) return nullptr;
  std::vector<std::string> notes;  // the experiment's own resolution says them
  const YamlJsonDocument resolved =
      resolve_configuration_references(YamlJsonDocument::from_tree(*name, ""), notes, environment);
  return find_file_by_name(resolved.root().text(), files);
}

/// Merges a trainer's overrides over its configuration and its model, if these files were given:
/// AMD-AGI/Primus primus/core/launcher/parser.py, parse_trainer_module.
void lay_trainer_files(DocumentTree& trainer, Sources others, const Environment& environment,
                       std::vector<const SourceFile*>& together) {
  DocumentTree under = DocumentTree::make_empty_mapping();
  for (const std::string_view key : {"config", "model"}) {
    const SourceFile* file = named_beside(trainer, key, others, environment);
    if (file == nullptr) continue;
    DocumentTree fields = with_parents(*file, others, together);
    drop_line_numbers(fields);
    merge_mappings(under, fields);
    if (key == "model") trainer = copy_without_key(trainer, key);
  }
  if (under.items.empty()) return;
  if (const DocumentTree* overrides = trainer.find("overrides");
      overrides != nullptr && overrides->kind == DocumentTree::TreeValueKind::kMapping) {
    merge_mappings(under, *overrides);
  }
  trainer.set("overrides", std::move(under));
}

/// Merges an experiment over all files that it names. Fails with `kInput` if a given file is named
/// by none.
YamlJsonDocument laid_experiment(const SourceFile& file, Sources others,
                                 const Environment& environment) {
  std::vector<const SourceFile*> together;
  DocumentTree experiment = with_parents(file, others, together);
  if (DocumentTree* modules = experiment.find("modules");
      modules != nullptr && modules->kind == DocumentTree::TreeValueKind::kMapping) {
    for (const std::string_view name : {"pre_trainer", "post_trainer"}) {
      DocumentTree* trainer = modules->find(name);
      if (trainer == nullptr || trainer->kind != DocumentTree::TreeValueKind::kMapping) continue;
      lay_trainer_files(*trainer, others, environment, together);
    }
  }
  for (const SourceFile& other : others) {
    if (other.name == file.name) continue;
    const bool used = std::ranges::any_of(
        together, [&](const SourceFile* one) { return one->name == other.name; });
    if (used) continue;
    fail_input(
        fmt::format("{}: neither the experiment nor what it goes over (extends, includes, "
                    "config, model) names {}",
                    file.name, other.name));
  }
  return YamlJsonDocument::from_tree(std::move(experiment), file.name);
}

/// Reads one experiment, given other files; `environment` has the variables for its `${NAME}`.
PlanDraft read_experiment(const SourceFile& file, Sources others, const UserFacts& given,
                          const Environment& environment, PlanDraft draft, ImportReport& report) {
  const YamlJsonDocument document = resolve_configuration_references(
      with_user_settings(laid_experiment(file, others, environment), given), report.notes,
      environment);
  const FrameworkSettingsReader root(document.root());
  const FrameworkSettingsReader modules = root.nested_settings("modules");
  const bool behind = !modules.has("pre_trainer");
  const FrameworkSettingsReader trainer =
      modules.nested_settings(behind ? "post_trainer" : "pre_trainer");
  const bool tunes = behind || trainer.word("config", "").starts_with("sft_trainer");
  if (trainer.node().size() == 0) {
    root.node().fail("has neither modules.pre_trainer nor modules.post_trainer");
  }
  const std::string framework = trainer.word("framework", "megatron");
  if (behind && framework != "megatron") {
    trainer.find("framework")->fail_unsupported("of a post_trainer is only supported as megatron");
  }
  if (framework != "megatron" && framework != "torchtitan" && framework != "maxtext") {
    trainer.find("framework")
        ->fail_unsupported("is only supported as megatron, torchtitan or maxtext");
  }
  name_primus_model(trainer, given, draft, report);
  if (framework == "maxtext") {
    draft.framework.name = "maxtext";
    const DocumentTree overrides =
        copy_tree_with_file_positions(trainer.nested_settings("overrides").node());
    return read_maxtext_plan(YamlJsonDocument::from_tree(overrides, file.name), given,
                             std::move(draft), report);
  }
  if (framework == "torchtitan") {
    draft.framework.name = "torchtitan";
    DocumentTree overrides =
        copy_tree_with_file_positions(trainer.nested_settings("overrides").node());
    // Primus's fp8 models have the converter in a separate file.
    const auto model = trainer.find("model");
    if (model && model->text().find("-fp8") != std::string::npos &&
        overrides.find("model") == nullptr) {
      overrides.set("model", DocumentTree::make_empty_mapping().set(
                                 "converters", copy_tree_with_file_positions(*model)));
      overrides.find("model")->find("converters")->text = "quantize.linear.float8";
    }
    draft = read_titan_plan({YamlJsonDocument::from_tree(overrides, file.name), true, {}}, given,
                            std::move(draft), report);
    return draft;
  }
  DocumentTree fields = with_arguments(
      flat_megatron_settings(document.root(), megatron_field_paths("primus/settings")), file.name,
      report);
  read_flags_of_yaml(fields);
  take_turbo_dispatcher(fields);
  MegatronFieldSources text{.said = fields,
                            .usual = tunes ? primus_tuning_defaults() : primus_defaults(),
                            .program = "Primus"};
  // Adapters of fine-tuning are under `lora` (primus/configs/modules/megatron/sft_trainer.yaml).
  const FrameworkSettingsReader lora = trainer.nested_settings("overrides").nested_settings("lora");
  if (tunes && lora.flag("enabled", false)) {
    draft.adapters = read_lora_adapter_settings(lora, "megatron/adapters", "bridge");
  }
  const std::string_view dispatcher =
      meaning_of_program_setting_word("primus/models", "dispatchers", primus_model(trainer));
  if (!dispatcher.empty()) text.usual.set("moe_token_dispatcher_type", dispatcher);
  return read_plan_from_megatron_fields(text, root, known_program_settings("primus/settings"),
                                        given, std::move(draft), report, file.name);
}

}  // namespace

PlanDraft read_primus(Sources files, const UserFacts& given, PlanDraft draft,
                      ImportReport& report) {
  if (std::ranges::any_of(files, is_shell_script)) {
    const PrimusRun run = read_primus_script(files, given, draft.extent, draft.start, report);
    const std::string script = draft.start.source;
    draft =
        read_experiment(run.file, run.others, run.given, run.environment, std::move(draft), report);
    draft.start.source = script;
    return draft;
  }
  std::vector<SourceFile> experiments;
  for (const SourceFile& file : files) {
    if (file_matches_target_rules("primus", file)) experiments.push_back(file);
  }
  const SourceFile& top =
      configuration_file_without_child(experiments.empty() ? files : experiments, kParentKeys);
  return read_experiment(top, files, given, {}, std::move(draft), report);
}

}  // namespace stepwright::framework_files

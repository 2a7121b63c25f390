#include <fmt/format.h>

#include <algorithm>

#include "stepwright/core/error.h"
#include "stepwright/core/python_document.h"
#include "stepwright/core/tree.h"
#include "stepwright/core/utf8.h"
#include "stepwright/framework_files/draft/fields.h"
#include "stepwright/framework_files/draft/named_model.h"
#include "stepwright/framework_files/draft/tables.h"
#include "stepwright/framework_files/draft/user_batch.h"
#include "stepwright/framework_files/forms/references.h"
#include "stepwright/framework_files/launchers/setting_words.h"
#include "stepwright/framework_files/megatron/carried_fields.h"
#include "stepwright/framework_files/rl/methods.h"
#include "stepwright/framework_files/rl/verl_engine.h"
#include "stepwright/framework_files/rl/verl_tuning.h"
#include "stepwright/framework_files/targets/code.h"

namespace stepwright::framework_files {
namespace {

constexpr std::string_view kPolicy = "actor_rollout_ref";
constexpr std::string_view kConfigName = "--config-name";
constexpr std::string_view kConfigPath = "--config-path";

/// How commands that start verl are read. Names of verl's settings have a dot, shell variables of a
/// script have none.
constexpr KeyValueProgram kVerlProgram = {
    .framework = "verl",
    .target = "verl",
    .has_setting = [](std::string_view name) { return name.find('.') != std::string_view::npos; },
    .options = {kConfigName, kConfigPath},
    .launched = true,
    .hydra = true,
    .settings = "rl/verl"};

/// The sequences that one update trains on.
struct Update {
  std::int64_t sequences = 0;
  std::int64_t length = 0;
  std::int64_t micro_batch = 0;  ///< Sequences per data-parallel rank; 0: not stated.
  /// Tokens per micro-batch and device instead of sequences; 0: not stated.
  std::int64_t tokens = 0;
  /// Sequences of one micro-batch over all data-parallel ranks; 0: not stated.
  std::int64_t pass = 0;
};

/// Reads an update; defaults are in verl/trainer/config/ppo_trainer.yaml and actor/actor.yaml.
Update read_update(const FrameworkSettingsReader& root) {
  constexpr std::int64_t kUsualLength = 512;
  constexpr std::int64_t kUsualPrompts = 256;
  const FrameworkSettingsReader data = root.nested_settings("data");
  const FrameworkSettingsReader actor =
      root.nested_settings("actor_rollout_ref").nested_settings("actor");
  const std::int64_t answers =
      root.nested_settings("actor_rollout_ref").nested_settings("rollout").integer("n", 1);
  Update update;
  update.length = data.integer("max_prompt_length", kUsualLength) +
                  data.integer("max_response_length", kUsualLength);
  const std::int64_t prompts = actor.integer("ppo_mini_batch_size", kUsualPrompts);
  if (__builtin_mul_overflow(prompts, answers, &update.sequences)) {
    actor.node().fail("sequences of an update are more than 2^63");
  }
  if (actor.node().find("use_dynamic_bsz") && actor.node().get("use_dynamic_bsz").boolean()) {
    const std::int64_t tokens = actor.integer("ppo_max_token_len_per_gpu", 16384);
    update.tokens = tokens;
  } else {
    update.micro_batch = actor.integer("ppo_micro_batch_size_per_gpu", 0);
    if (update.micro_batch == 0) update.pass = actor.integer("ppo_micro_batch_size", 0);
  }
  if (update.tokens == 0 && update.micro_batch == 0 && update.pass == 0) {
    actor.node().fail(
        "must say ppo_micro_batch_size_per_gpu (a trainer of one's own may have it in its YAML: "
        "give "
        "this file, too)");
  }
  return update;
}

/// Reports a micro-batch that is smaller than one sequence (padding included, if sequences are
/// padded), for which rearrange_micro_batches in verl/utils/seqlen_balancing.py fails.
void say_short_micro_batch(const FrameworkSettingsReader& root, const Update& update,
                           std::int64_t ranks, const std::string& file, ImportReport& report) {
  constexpr std::string_view kTokens = "ppo_max_token_len_per_gpu";
  const std::int64_t tokens = update.tokens * ranks;
  const auto said = root.nested_settings(kPolicy).nested_settings("actor").find(kTokens);
  if (update.tokens == 0 || tokens >= update.length || !said) return;
  report.not_read.push_back(
      {fmt::format("{}.actor.{}", kPolicy, kTokens), said->text(), file, said->source_line(),
       SettingImpact::kYes,
       fmt::format("that verl ends at a sequence of more than {} tokens: one of {} is counted",
                   tokens, update.length)});
}

/// Returns the sequences of an update that divide evenly among data-parallel ranks; the others go
/// into other updates. verl/workers/fsdp_workers.py, megatron_workers.py: `ppo_mini_batch_size //=
/// ` the data ranks.
std::int64_t shared_sequences(const Update& update, const plan::Plan& plan, ImportReport& report) {
  const std::int64_t ranks = plan.parallel.data;
  const std::int64_t share = update.sequences / ranks;
  if (share == 0 || share * ranks == update.sequences) return update.sequences;
  report.notes.push_back(
      fmt::format("An update has {} sequences, not {}: verl gives each of {} data ranks {}.",
                  share * ranks, update.sequences, ranks, share));
  return share * ranks;
}

/// Sets batch and micro-batch of an update. A limit in tokens covers all ranks that share a
/// sequence: verl/workers/actor/dp_actor.py, megatron_actor.py.
void take_update(const Update& update, plan::Plan& plan, StatedStepBatch& batch,
                 ImportReport& report) {
  batch.length = update.length;
  const plan::ParallelismDegrees& degrees = plan.parallel;
  std::int64_t micro = update.micro_batch;
  if (micro == 0) micro = update.pass / degrees.data;
  if (update.tokens > 0) micro = update.tokens * degrees.context / update.length;
  set_verl_update_batch(shared_sequences(update, plan, report), std::max<std::int64_t>(1, micro),
                        plan, batch, report);
}

PlanDraft read_fsdp_actor(const FrameworkSettingsReader& root, const std::string& file,
                          const UserFacts& given, PlanDraft draft, ImportReport& report) {
  draft.framework.name = "fsdp";
  draft.framework_overlap = true;
  plan::Plan& plan = draft.plan;
  const FrameworkSettingsReader policy = root.nested_settings("actor_rollout_ref");
  const FrameworkSettingsReader actor = policy.nested_settings("actor");
  const FrameworkSettingsReader config = actor.nested_settings("fsdp_config");
  const Update update = read_update(root);
  plan.parallel.context = actor.integer("ulysses_sequence_parallel_size",
                                        config.integer("ulysses_sequence_parallel_size", 1));
  resolve_cluster_and_data_degree(draft.plan, draft.extent, report, given, file);
  read_verl_fsdp_engine(config, actor.word("strategy", "fsdp") == "fsdp2", draft, report);
  read_verl_model_section(policy.nested_settings("model"), draft.plan, draft);
  take_update(update, draft.plan, draft.batch, report);
  draft = read_verl_parameter_type(config, std::move(draft));
  report_read_and_unread_settings(root, file, known_program_settings("rl/verl"), report);
  say_short_micro_batch(root, update, plan.parallel.context, file, report);
  return draft;
}

PlanDraft read_megatron_actor(const FrameworkSettingsReader& root, const std::string& file,
                              const UserFacts& given, PlanDraft draft, ImportReport& report) {
  draft.framework.name = "megatron-core";
  const Update update = read_update(root);
  const FrameworkSettingsReader lora =
      root.nested_settings(kPolicy).nested_settings("model").nested_settings("lora");
  draft.adapters = verl_megatron_adapters(lora);
  MegatronFieldSources text{
      .said = flat_megatron_settings(root.node(), megatron_field_paths("rl/verl")),
      .program = "verl"};
  text.usual = verl_megatron_defaults(text.said);
  text.derived.set("seq_length", update.length).set("global_batch_size", update.sequences);
  draft = read_plan_from_megatron_fields(text, root, known_program_settings("rl/verl"), given,
                                         std::move(draft), report, file);
  take_update(update, draft.plan, draft.batch, report);
  say_short_micro_batch(root, update, draft.plan.parallel.context, file, report);
  return draft;
}

/// True if a configuration is one of verl's own, whose values are the defaults here.
bool is_own_configuration(std::string_view name) {
  // Configurations in verl/experimental override those of the trainer.
  for (const std::string_view prefix : {"fully_async_", "one_step_off_"}) {
    if (name.starts_with(prefix)) name.remove_prefix(prefix.size());
  }
  return name.ends_with("ppo_trainer") || (name.starts_with("ppo_") && name.ends_with("_trainer"));
}

std::string_view stem_of(std::string_view path) {
  path = last_path_part(path);
  return path.substr(0, path.find(".y"));
}

bool is_configuration(const SourceFile& file) {
  if (file_contains_text(file, "actor_rollout_ref:")) return true;
  const bool named = file.name.ends_with(".yaml") || file.name.ends_with(".yml");
  return (named && !file_contains_text(file, "actor_rollout_ref.")) ||
         file_contains_text(file, "partial_pretrain:");
}

/// True if a name is that of a configuration for fine-tuning.
bool is_own_tuning(std::string_view name) {
  return name == "sft_trainer" || name == "sft_trainer_engine";
}

/// Fails for configurations of hiyouga/EasyR1, another program whose module verl/trainer/main.py
/// has the same name.
void refuse_easy_r1(const DocumentNode& root) {
  const auto worker = root.find("worker");
  if (!worker || !worker->is_mapping() || root.find(kPolicy)) return;
  if (!worker->find("actor") && !worker->find("rollout")) return;
  worker->fail_unsupported("is of EasyR1, whose configurations are not read; those of verl are");
}

/// Reports a program of another package that can have defaults of its own: a copy of verl
/// ("lab.verl.trainer.main_ppo"), or a module built on its trainers.
void list_own_defaults(const std::string& file, const StartedTrainingProgram& start,
                       ImportReport& report) {
  const std::string& program = start.program;
  const bool module = program.find('/') == std::string::npos && !program.ends_with(".py");
  if (!module || program.starts_with("verl.") || program.starts_with("recipe.")) return;
  const std::size_t copy = program.find("verl.trainer.");
  std::string folder = copy == std::string::npos ? program.substr(0, program.find('.'))
                                                 : program.substr(0, copy) + "verl/trainer";
  std::ranges::replace(folder, '.', '/');
  report.not_read.push_back(
      {one_line_printable_text(program), "", file, 0,
       copy == std::string::npos ? SettingImpact::kMaybe : SettingImpact::kYes,
       fmt::format("its own defaults of what the command does not say (rollout.n, micro-batches, "
                   "recomputation): those of verl are taken; give {}/config/ppo_trainer.yaml, too",
                   one_line_printable_text(folder))});
}

/// Returns a script's words merged over the given configurations, or one configuration alone.
YamlJsonDocument read_verl_form(Sources files, const UserFacts& given, JobRankCounts& extent,
                                StartedTrainingProgram& start, ImportReport& report) {
  std::vector<SourceFile> scripts;
  std::vector<SourceFile> configurations;
  for (const SourceFile& file : files) {
    (is_configuration(file) ? configurations : scripts).push_back(file);
  }
  if (scripts.empty()) {
    const SourceFile& file = configurations.front();
    if (files.size() != 1) fail_input("verl: one configuration is read at a time");
    return with_user_settings(parse_like_python_yaml(file.text, file.name), given);
  }
  const YamlJsonDocument words =
      read_key_value_command(scripts, kVerlProgram, given, extent, start, report);
  if (configurations.empty()) list_own_defaults(words.document_name(), start, report);
  DocumentTree all = DocumentTree::make_empty_mapping();
  for (const SourceFile& file : configurations) {
    const YamlJsonDocument document = parse_like_python_yaml(file.text, file.name);
    DocumentTree over = copy_tree_with_file_positions(document.root());
    drop_line_numbers(over);
    merge_mappings(all, over);
  }
  if (const auto name = words.root().find(kConfigName)) {
    const std::string stem(stem_of(name->text()));
    const bool there = std::ranges::any_of(
        configurations, [&](const SourceFile& file) { return stem_of(file.name) == stem; });
    const auto path = words.root().find(kConfigPath);
    const bool elsewhere = path && path->text() != "config";
    const bool own = is_own_configuration(stem) || (is_own_tuning(stem) && !elsewhere);
    if (!there && !own) name->fail("names a configuration: give it, too");
  }
  merge_mappings(all, copy_tree_with_file_positions(words.root()));
  return YamlJsonDocument::from_tree(std::move(all), words.document_name());
}

/// Returns the engine that Hydra's words or a list of defaults choose: `model_engine=megatron`,
/// `--config-name=ppo_megatron_trainer`, `- override model_engine: megatron`.
/// verl/trainer/config/ppo_trainer.yaml, model_engine/.
std::string engine_of(const FrameworkSettingsReader& root) {
  static constexpr std::string_view kEngineWords[] = {"megatron", "torchtitan", "veomni",
                                                      "automodel"};
  std::vector<std::string> said;
  for (const std::string_view key :
       {kConfigName, std::string_view("model_engine"), std::string_view("engine")}) {
    const auto word = root.find(key);
    if (word && word->is_scalar()) said.push_back(word->text());
  }
  const auto defaults = root.find("defaults");
  for (std::size_t i = 0; defaults && defaults->is_sequence() && i < defaults->size(); ++i) {
    const DocumentNode one = defaults->at(i);
    if (one.is_scalar()) said.push_back(one.text());
    if (!one.is_mapping()) continue;
    for (const auto& [key, value] : one.mapping_members()) {
      if (value.is_scalar() && !value.is_null()) said.push_back(value.text());
    }
  }
  for (const std::string& text : said) {
    for (const std::string_view engine : kEngineWords) {
      if (text.find(engine) != std::string::npos) return std::string(engine);
    }
  }
  if (root.nested_settings("engine").node().find("tensor_model_parallel_size")) return "megatron";
  const FrameworkSettingsReader actor = root.nested_settings(kPolicy).nested_settings("actor");
  return actor.nested_settings("megatron").node().size() > 0 ? "megatron" : "fsdp";
}

}  // namespace

PlanDraft read_verl(Sources files, const UserFacts& given, PlanDraft draft, ImportReport& report) {
  const YamlJsonDocument said = read_verl_form(files, given, draft.extent, draft.start, report);
  const std::string& name = said.document_name();
  const YamlJsonDocument document = resolve_configuration_references(said, report.notes);
  const FrameworkSettingsReader root(document.root());
  refuse_easy_r1(root.node());
  if (!root.node().find(kPolicy))
    return read_verl_fine_tuning(root, name, engine_of(root), given, std::move(draft), report);
  // Ray starts the ranks, not the launcher.
  draft.extent.ranks.reset();
  const FrameworkSettingsReader policy = root.nested_settings(kPolicy);
  draft.extent.nodes = root.nested_settings("trainer").size("nnodes");
  draft.extent.devices_of_node = root.nested_settings("trainer").size("n_gpus_per_node");
  set_built_in_model(policy.nested_settings("model").word("path", ""), given, draft, report);
  set_user_document_packing(policy.nested_settings("model"), "use_remove_padding",
                            kVerlUnpaddedPacking, given, draft.batch);
  const FrameworkSettingsReader actor = policy.nested_settings("actor");
  const std::string strategy = actor.word("strategy", engine_of(root));
  draft.method = verl_training_method(root, strategy);
  const auto adapters = policy.nested_settings("model").node().find("lora_rank");
  if (adapters && !adapters->is_null() && adapters->integer(0, kMaxIntegerSetting) > 0 &&
      draft.method.reference.place == plan::SecondModelPlace::kHost) {
    draft.method.reference.place = plan::SecondModelPlace::kSame;
  }
  if (strategy == "megatron")
    return read_megatron_actor(root, name, given, std::move(draft), report);
  if (strategy != "fsdp" && strategy != "fsdp2") {
    fail_unsupported(
        fmt::format("{}: actor_rollout_ref.actor.strategy {} is not read: megatron, "
                    "fsdp and fsdp2 are",
                    name, one_line_printable_text(strategy)));
  }
  return read_fsdp_actor(root, name, given, std::move(draft), report);
}

}  // namespace stepwright::framework_files

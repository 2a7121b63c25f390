#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "stepwright/core/error.h"
#include "stepwright/core/mapping_builder.h"
#include "stepwright/core/tree.h"
#include "stepwright/core/tree_members.h"
#include "stepwright/core/utf8.h"
#include "stepwright/framework_files/draft/fields.h"
#include "stepwright/framework_files/draft/named_model.h"
#include "stepwright/framework_files/draft/tables.h"
#include "stepwright/framework_files/draft/user_batch.h"
#include "stepwright/framework_files/draft/words_table.h"
#include "stepwright/framework_files/huggingface/command_fields.h"
#include "stepwright/framework_files/huggingface/deepspeed.h"
#include "stepwright/framework_files/huggingface/trainer.h"
#include "stepwright/framework_files/launchers/command_words.h"
#include "stepwright/framework_files/launchers/environment.h"
#include "stepwright/framework_files/launchers/started.h"
#include "stepwright/framework_files/launchers/torchrun.h"
#include "stepwright/framework_files/rl/methods.h"
#include "stepwright/framework_files/rl/verl_engine.h"
#include "stepwright/framework_files/targets/code.h"

namespace stepwright::framework_files {
namespace {

constexpr std::string_view kOpenrlhf = "openrlhf";

/// A trainer module, with the defaults of its arguments.
struct OpenrlhfTrainer {
  std::string_view name;
  std::int64_t micro_batch = 0;
  /// Default length of a sequence; 0: prompt and answer, 1,024 tokens each.
  std::int64_t length = 0;
  std::string_view leaves_out{};
};

/// The work that a step leaves out in reinforcement learning, for messages. Trainers are in
/// OpenRLHF/OpenRLHF openrlhf/cli.
constexpr std::string_view kAnswers =
    "generation and the passes of the other models, which `phases` counts: the step is an update";
constexpr OpenrlhfTrainer kTrainers[] = {
    {"train_sft", 8, 2048},
    {"train_dpo", 8, 512},
    {"train_rm", 8, 512, "a model of rewards: pairs, so that each of the batch is two sequences"},
    {"train_kto", 8, 512, "a loss of preferences, and the passes of a reference"},
    {"train_prm", 1, 2048, "a model of rewards: its loss"},
    {"train_kd", 8, 2048, "the passes of a teacher"},
    {"train_ppo", 4, 0, kAnswers},
    {"train_ppo_ray", 4, 0, kAnswers},
};
constexpr std::int64_t kUsualBatch = 128;
constexpr std::int64_t kUsualPart = 1024;

/// Part of the names of trainers that Ray starts, whose ranks are the actor's.
constexpr std::string_view kOfRay = "_ray";

/// Returns "train_sft" for a word that names a trainer ("openrlhf.cli.train_sft",
/// "openrlhf/cli/train_sft.py"); empty for another word.
std::string_view trainer_named(std::string_view word) {
  if (word.find('=') != std::string_view::npos || word.starts_with('-')) return "";
  // A copy started inside the package names its modules without the package.
  const bool inside = word.starts_with("cli.train_");
  if (!inside && word.find(kOpenrlhf) == std::string_view::npos) return "";
  if (word.ends_with(".py")) word.remove_suffix(3);
  const std::string_view name = word.substr(word.find_last_of("./") + 1);
  return name.starts_with("train_") ? name : "";
}

std::string_view trainer_among(Words words) {
  for (const ShellWord& word : words) {
    if (const auto name = trainer_named(word.text); !name.empty()) return name;
  }
  return "";
}

/// Returns the trainer of a name; for a fork's trainer, the one that it is based on, such as
/// `train_ppo_ray` for `train_rlvr_ray`. Fails if there is none.
OpenrlhfTrainer trainer_of(std::string_view name, const StartedCommand& command,
                           ImportReport& report) {
  const auto* known = std::ranges::find(kTrainers, name, &OpenrlhfTrainer::name);
  if (known != std::end(kTrainers)) return *known;
  const bool ray = name.find(kOfRay) != std::string_view::npos;
  for (const OpenrlhfTrainer& one : kTrainers) {
    if (ray ? one.name != "train_ppo_ray" : !name.starts_with(fmt::format("{}_", one.name))) {
      continue;
    }
    report.not_read.push_back({one_line_printable_text(name), "", command.file,
                               command.words.front().line, SettingImpact::kMaybe,
                               fmt::format("a trainer of a fork, taken for {}: what it does "
                                           "beside it is not known",
                                           one.name)});
    return one;
  }
  fail_unsupported(fmt::format("{}:{}: starts {}, which is no trainer of OpenRLHF that is read",
                               command.file, command.words.front().line,
                               one_line_printable_text(name)));
}

/// Arguments under their first names, and the name of each in the file.
struct OpenrlhfArguments {
  DocumentTree fields = DocumentTree::make_empty_mapping();
  std::vector<std::pair<std::string, std::string>> names;
};

OpenrlhfArguments with_first_names(const DocumentTree& said) {
  OpenrlhfArguments made;
  TreeMappingBuilder fields;
  for (const auto& [own, value] : tree_members(said)) {
    const std::string_view first =
        meaning_of_program_setting_word("rl/openrlhf_words", "first_names", own);
    std::string name(first.empty() ? std::string_view(own) : first);
    std::ranges::replace(name, '.', '_');
    if (name != own) made.names.emplace_back(name, own);
    fields.set(name, value);
  }
  made.fields = fields.finished_mapping();
  return made;
}

/// Renames the settings of a report to their names in the file.
void name_as_said(const OpenrlhfArguments& arguments, ImportReport& report) {
  each_setting(report, [&](auto& setting) {
    const auto own = std::ranges::find(arguments.names, setting.name,
                                       &std::pair<std::string, std::string>::first);
    if (own != arguments.names.end()) setting.name = own->second;
  });
}

/// Sequences and micro-batch of the update in one step.
struct OpenrlhfBatch {
  std::int64_t sequences = 0;
  std::int64_t micro_batch = 0;
};

OpenrlhfBatch read_openrlhf_batch(const FrameworkSettingsReader& fields,
                                  const OpenrlhfTrainer& trainer, const plan::Plan& plan,
                                  StatedStepBatch& job_batch) {
  if (trainer.length > 0) {
    job_batch.length = fields.integer("max_len", trainer.length);
  } else {
    job_batch.length =
        fields.integer("max_len", fields.integer("prompt_max_len", kUsualPart) +
                                      fields.integer("generate_max_len", kUsualPart));
  }
  OpenrlhfBatch batch{.sequences = fields.integer("train_batch_size", kUsualBatch),
                      .micro_batch = fields.integer("micro_train_batch_size", trainer.micro_batch)};
  const auto dynamic = fields.node().find("use_dynamic_batch");
  if (dynamic && dynamic->is_scalar() && dynamic->text() == "true") {
    constexpr std::int64_t kUsualTokens = 16192;
    const std::int64_t tokens = fields.integer("train_max_tokens_per_gpu", kUsualTokens) *
                                plan.parallel.context * plan.parallel.tensor;
    batch.micro_batch = std::max<std::int64_t>(1, tokens / *job_batch.length);
  }
  return batch;
}

/// Returns the DeepSpeed configuration that OpenRLHF makes:
/// openrlhf/utils/deepspeed/deepspeed_utils.py: get_train_ds_config. Its buckets are `auto`, which
/// DeepSpeed replaces by its own defaults (deepspeed/runtime/config_utils.py,
/// DeepSpeedConfigModel).
DocumentTree deepspeed_tree(const FrameworkSettingsReader& fields, DType precision) {
  const std::int64_t stage = fields.integer("zero_stage", 2, 0);
  DocumentTree zero = DocumentTree::make_empty_mapping();
  zero.set("stage", stage);
  if (fields.flag("overlap_comm", false)) zero.set("overlap_comm", true);
  const std::int64_t group = fields.integer("zpg", 1);
  if (group > 1 && stage == 3) zero.set("zero_hpz_partition_size", group);
  if (fields.flag("adam_offload", false)) {
    zero.set("offload_optimizer",
             DocumentTree::make_empty_mapping().set("device", "cpu").set("pin_memory", true));
  }
  DocumentTree config =
      DocumentTree::make_empty_mapping().set("zero_optimization", std::move(zero));
  config.set(precision == DType::kFp16 ? "fp16" : "bf16",
             DocumentTree::make_empty_mapping().set("enabled", precision != DType::kFp32));
  const std::int64_t tensor = fields.integer("ds_tensor_parallel_size", 1);
  if (tensor > 1)
    config.set("tensor_parallel", DocumentTree::make_empty_mapping().set("autotp_size", tensor));
  if (const auto type = fields.find("grad_accum_dtype")) {
    config.set("data_types",
               DocumentTree::make_empty_mapping().set("grad_accum_dtype", type->text()));
  }
  return config;
}

DType openrlhf_precision(const FrameworkSettingsReader& fields) {
  static constexpr Named<DType> kTypes[] = {
      {DType::kBf16, "bf16"}, {DType::kFp16, "fp16"}, {DType::kFp32, "fp32"}};
  // Later releases have only this key for the type; its default is bf16.
  fields.mark_setting_read("bf16");
  return fields.choice("param_dtype", kTypes, DType::kBf16);
}

std::optional<StatedLoraAdapters> openrlhf_adapters(const FrameworkSettingsReader& fields) {
  const auto rank = fields.node().find("lora_rank");
  if (!rank || rank->integer(0, kMaxIntegerSetting) == 0) return {};
  return read_lora_adapter_settings(fields, "rl/adapters", "openrlhf");
}

PlanDraft read_openrlhf_model(const FrameworkSettingsReader& fields, const UserFacts& given,
                              PlanDraft draft, ImportReport& report) {
  if (const auto model = fields.find("pretrain"))
    set_built_in_model(model->text(), given, draft, report);
  draft.adapters = openrlhf_adapters(fields);
  if (fields.flag("gradient_checkpointing", false)) {
    draft.plan.recompute.kind = plan::RecomputeKind::kFull;
  }
  draft.fused_cross_entropy = fields.flag("use_liger_kernel", false);
  return draft;
}

/// Reads the ranks of the actor, which Ray starts; the program's default is one node of eight
/// devices.
void read_actor_ranks(const FrameworkSettingsReader& fields, JobRankCounts& extent) {
  constexpr std::int64_t kUsualDevices = 8;
  extent.ranks.reset();
  extent.nodes = fields.integer("actor_num_nodes", 1);
  extent.devices_of_node = fields.integer("actor_num_gpus_per_node", kUsualDevices);
}

/// Reads the method. Both sequences of a preference pair pass through the model at once
/// (openrlhf/trainer/dpo_trainer.py: concatenated_forward).
void take_method(const FrameworkSettingsReader& fields, const OpenrlhfTrainer& trainer,
                 PartialPlan& settled, StatedStepBatch& batch, ImportReport& report) {
  if (trainer.name == "train_sft") settled.method.kind = plan::TrainingMethodKind::kSft;
  if (trainer.name == "train_ppo" || trainer.name == "train_ppo_ray") {
    settled.method = openrlhf_training_method(fields);
  }
  if (trainer.name != "train_dpo") return;
  settled.method.kind = plan::TrainingMethodKind::kDpo;
  settled.method.reference.place = fields.flag("ref_offload", false)
                                       ? plan::SecondModelPlace::kHost
                                       : plan::SecondModelPlace::kSame;
  double_preference_pair_batch(settled.plan, batch, report);
}

PlanDraft read_openrlhf_fields(const FrameworkSettingsReader& fields,
                               const OpenrlhfTrainer& trainer, const std::string& file,
                               const UserFacts& given, PlanDraft draft, ImportReport& report) {
  draft.framework.name = "deepspeed";
  draft = read_openrlhf_model(fields, given, std::move(draft), report);
  draft.precision = openrlhf_precision(fields);
  static constexpr Named<plan::Optimizer> kOptimizers[] = {{plan::Optimizer::kAdamW, "adam"},
                                                           {plan::Optimizer::kMuon, "muon"}};
  draft.optimizer = fields.choice("optim", kOptimizers, plan::Optimizer::kAdamW);
  if (fields.flag("flash_attn", trainer.name == "train_ppo_ray")) {
    draft.attention = cluster::AttentionKernel::kFlash2;
  }
  apply_attention_kernel(fields, "attn_implementation", draft);
  set_user_document_packing(fields, "packing_samples",
                            {.packing = {.pad_to = packing::PaddingTarget::kNone,
                                         .too_long = packing::LongDocumentPolicy::kSplit}},
                            given, draft.batch);
  plan::Plan& plan = draft.plan;
  plan.parallel.context = fields.integer("ring_attn_size", 1);
  plan.parallel.tensor = fields.integer("ds_tensor_parallel_size", 1);
  const YamlJsonDocument config =
      YamlJsonDocument::from_tree(deepspeed_tree(fields, draft.precision), file);
  std::optional<std::int64_t> hidden;
  if (given.known_model) hidden = given.known_model->hidden;
  if (draft.model) hidden = draft.model->hidden;
  const TrainerAutoValues values{
      .micro_batch = {}, .accumulation = {}, .precision = draft.precision, .hidden = hidden};
  const DType precision = draft.precision;
  const ImportReport before = report;
  draft = read_deepspeed_configuration(config, given, std::move(draft), report, &values);
  draft.precision = precision;
  // Settings derived from the arguments are in no file.
  report.read = before.read;
  report.not_read = before.not_read;
  const OpenrlhfBatch batch = read_openrlhf_batch(fields, trainer, draft.plan, draft.batch);
  draft.batch.derive_micro_batch = false;
  draft.batch.micro_batches.reset();
  const std::int64_t data = plan.parallel.data;
  if (!fields.flag("use_dynamic_batch", false) && given.batch.empty() &&
      batch.sequences % std::max<std::int64_t>(1, batch.micro_batch * data) != 0) {
    fail_input(
        fmt::format("{}: a batch of {} sequences (train_batch_size) is no multiple of {} "
                    "(micro_train_batch_size) x {} (ranks that share it), as DeepSpeed asks",
                    file, batch.sequences, batch.micro_batch, data));
  }
  set_verl_update_batch(batch.sequences, batch.micro_batch, draft.plan, draft.batch, report);
  take_method(fields, trainer, draft, draft.batch, report);
  report_read_and_unread_settings(fields, file, known_program_settings("rl/openrlhf"), report);
  return draft;
}

}  // namespace

PlanDraft read_openrlhf(Sources files, const UserFacts& given, PlanDraft draft,
                        ImportReport& report) {
  const StartedProgramRule program{
      .framework = "OpenRLHF",
      .arguments = "--train_batch_size, --zero_stage",
      .starts = starts_openrlhf,
      .has_argument = is_name_value_argument,
      .matters = step_relevant_argument_predicate(known_program_settings("rl/openrlhf"))};
  const StartedCommand command = find_started_command(files, given, program, report);
  draft.start = training_program_started_by_command(command);
  std::vector<ShellWord> all = command.launchers;
  all.insert(all.end(), command.words.begin(), command.words.end());
  const OpenrlhfTrainer trainer = trainer_of(trainer_among(all), command, report);
  OpenrlhfArguments arguments =
      with_first_names(command_arguments_as_mapping(command.command_words_with_overrides()));
  const YamlJsonDocument document =
      YamlJsonDocument::from_tree(std::move(arguments.fields), command.file);
  const FrameworkSettingsReader fields(document.root());
  const auto backend = fields.node().find("backend");
  if (backend && backend->text() != "deepspeed") {
    backend->fail_unsupported("is of a branch; OpenRLHF is read on DeepSpeed alone");
  }
  read_launcher_rank_counts(command, draft.extent, report);
  if (trainer.name == "train_ppo_ray") read_actor_ranks(fields, draft.extent);
  if (!trainer.leaves_out.empty()) {
    report.not_read.push_back({std::string(trainer.name), "", command.file,
                               command.words.front().line, SettingImpact::kYes,
                               std::string(trainer.leaves_out)});
  }
  try {
    draft = read_openrlhf_fields(fields, trainer, command.file, given, std::move(draft), report);
  } catch (const Error& error) {
    rethrow_naming_option_for_value(error, command, report);
  }
  name_as_said(arguments, report);
  if (trainer.name != "train_ppo_ray") report_unknown_rank_counts(command, draft.extent, report);
  read_environment_settings(command, draft, draft.extent, report);
  return draft;
}

bool starts_openrlhf(Words words) { return !trainer_among(words).empty(); }

}  // namespace stepwright::framework_files

#include "stepwright/framework_files/huggingface/training_arguments.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string_view>

#include "stepwright/core/scalar.h"
#include "stepwright/core/utf8.h"
#include "stepwright/framework_files/draft/training_code_comment.h"
#include "stepwright/framework_files/draft/user_batch.h"
#include "stepwright/framework_files/huggingface/accelerate.h"
#include "stepwright/framework_files/huggingface/trainer.h"

namespace stepwright::framework_files {
namespace {

/// Reads the words of `fsdp`; true if they turn FSDP on. huggingface/transformers
/// src/transformers/training_args.py: _process_fsdp_args.
bool read_fsdp_words(DocumentNode given, TrainerDistribution& trainer) {
  static constexpr std::string_view kOthers[] = {"auto_wrap", "offload"};
  bool on = false;
  for (const std::string& word : split_word_list(given)) {
    if (word == "false" || word == "False") continue;
    on = true;
    if (word == "offload") trainer.fsdp.offload = make_unread_setting(given);
    if (std::ranges::find(kOthers, word) != std::end(kOthers)) continue;
    const FsdpOptions said = sharding_of_fsdp_setting(word, given);
    trainer.fsdp.states = said.states;
    trainer.fsdp.by_node = said.by_node;
  }
  return on;
}

DType trained_precision(const FrameworkSettingsReader& arguments) {
  const bool brain = arguments.flag("bf16", false);
  const bool half = arguments.flag("fp16", false);
  if (brain && half) arguments.find("fp16")->fail("bf16 and fp16 are both true; only one can be");
  return brain ? DType::kBf16 : half ? DType::kFp16 : DType::kFp32;
}

/// Reads the type in which weights are loaded: `dtype`, in older releases torch_dtype;
/// huggingface/transformers src/transformers/modeling_utils.py, from_pretrained.
void read_loaded_type(const FrameworkSettingsReader& arguments, TrainerDistribution& trainer,
                      PartialPlan& settled) {
  for (const std::string_view key : {"torch_dtype", "dtype"}) {
    const auto said = arguments.node().find(key);
    if (!said || !said->is_scalar()) continue;
    const bool narrow = said->text() == "bfloat16";
    const bool half = said->text() == "float16" && settled.precision == DType::kFp32;
    if (!narrow && !half && said->text() != "float32") continue;
    arguments.mark_setting_read(key);
    if (half) {
      trainer.weights = LoadedWeightType::kPure;
      settled.precision = DType::kFp16;
    }
    if (!narrow || settled.precision == DType::kFp16) continue;
    trainer.weights =
        settled.precision == DType::kFp32 ? LoadedWeightType::kPure : LoadedWeightType::kNarrow;
    settled.precision = DType::kBf16;
  }
}

void read_length(const FrameworkSettingsReader& arguments, StatedStepBatch& batch) {
  for (const std::string_view key : {"max_length", "max_seq_length", "max_seq_len", "block_size",
                                     "model_max_length", "cutoff_len", "pack_length"}) {
    if (!batch.length) batch.length = arguments.size(key);
  }
  // A sequence is as long as prompt and completion may be: trl/trainer/grpo_config.py.
  const auto completion = arguments.node().find("max_completion_length");
  if (batch.length || !completion || completion->is_null()) return;
  constexpr std::int64_t kUsualPrompt = 512;
  batch.length = arguments.integer("max_prompt_length", kUsualPrompt) +
                 arguments.integer("max_completion_length", kUsualPrompt);
}

/// Reads adapters of TRL (`use_peft`) and of other scripts (`lora_enable`, `use_lora`). Keys that
/// no supported program defines are matched by a table of synonyms, which the report says.
std::optional<StatedLoraAdapters> script_adapters(const FrameworkSettingsReader& arguments,
                                                  ImportReport& report) {
  constexpr std::string_view kTable = "huggingface/adapters";
  if (const auto on = lora_enabling_key(arguments, kTable, "own"); !on.empty()) {
    report.add_assumption("job.adapters",
                          fmt::format("{} is taken for LoRA by the names of the program's "
                                      "arguments, with what peft's examples/sft has where "
                                      "they are silent",
                                      on));
    return read_lora_adapter_settings(arguments, kTable, "own");
  }
  const bool peft = arguments.flag("use_peft", false);
  const DocumentNode said = arguments.node();
  if (peft && said.find("lora_rank") && !said.find("lora_r")) {
    report.add_assumption("job.adapters",
                          "use_peft beside lora_rank is taken for LoRA by the names of the "
                          "program's arguments, which are not TRL's");
    return read_lora_adapter_settings(arguments, kTable, "own");
  }
  const bool enabled = arguments.flag("lora_enable", false);
  if (!arguments.flag("use_lora", peft || enabled)) return {};
  if (!peft && (!said.find("lora_r") || !said.find("lora_target_modules"))) {
    report.add_assumption("job.adapters",
                          "the defaults of QwenLM/Qwen finetune.py where the arguments are silent: "
                          "give the program for its own");
  }
  return read_lora_adapter_settings(arguments, kTable, peft ? "trl" : "scripts");
}

/// Reads TRL's packing (huggingface/trl trl/trainer/sft_config.py: `packing_strategy`;
/// trl/data_utils.py). `bfd` puts the longest document first into the fullest sequence with room,
/// `bfd_split` splits documents whose end `bfd` would cut off, and `wrapped` joins documents and
/// cuts them; each works on one batch of `Dataset.map`. The first two do not pad
/// (trl/trainer/sft_trainer.py).
void read_trl_packing(const FrameworkSettingsReader& arguments, const UserFacts& given,
                      StatedStepBatch& batch, ImportReport& report) {
  const auto packs = arguments.node().find("packing");
  const bool packed = packs && !packs->is_null() && packs->boolean();
  if (!packed && arguments.node().find("max_length")) {
    report_max_example_length_as_unread(arguments, "max_length", given, batch, report);
  }
  // Examples in one batch of Dataset.map (huggingface/datasets src/datasets/arrow_dataset.py).
  constexpr std::int64_t kMapBatch = 1000;
  StatedDocumentPacking words = {.packing = {.pad_to = packing::PaddingTarget::kNone,
                                             .too_long = packing::LongDocumentPolicy::kTruncate}};
  set_user_document_packing(arguments, "padding_free", words, given, batch);
  if (!packs_documents(arguments, "packing", given)) return;
  const std::string strategy = arguments.word("packing_strategy", "bfd");
  words.packing.kind = packing::PackingKind::kFirstFit;
  words.packing.group = kMapBatch;
  words.joined = strategy == "wrapped";
  if (strategy == "bfd_split" || strategy == "bfd-requeue") {
    words.packing.too_long = packing::LongDocumentPolicy::kSplit;
  }
  set_user_document_packing(arguments, "packing", words, given, batch);
}

/// Reads adapters of DeepSpeed-Chat (deepspeedai/DeepSpeedExamples
/// applications/DeepSpeed-Chat/dschat/utils/module/lora.py): alpha is 1, and products of modules
/// whose names contain a text get adapters. Without `--only_optimize_lora`, weights without an
/// adapter are trained, too.
void read_chat_adapters(const FrameworkSettingsReader& arguments, StatedModel& model_words) {
  const auto rank = arguments.node().find("lora_dim");
  if (!rank || rank->integer(0) == 0) return;
  const std::string part = arguments.word("lora_module_name", "decoder.layers.");
  if (part.find("decoder.") != std::string::npos) {
    arguments.record_unmodelled_setting(
        "lora_dim", *rank,
        fmt::format("adapters, if the model has modules that are called {}: a "
                    "Llama has none",
                    one_line_printable_text(part)));
    return;
  }
  StatedLoraAdapters words{.rank = arguments.find("lora_dim")->integer(1),
                           .alpha = 1,
                           .modules = {"all-linear"},
                           .of_transformers = true};
  if (part.find("layers") == std::string::npos) words.modules = {part};
  model_words.adapters = std::move(words);
  if (!arguments.flag("only_optimize_lora", false)) {
    arguments.record_unmodelled_setting(
        "only_optimize_lora", *rank,
        "its absence: embeddings, norms and head are trained beside the adapters");
  }
}

/// Returns the learners on each node of a trainer of policies on Ray; empty if it has none.
/// allenai/open-instruct open_instruct/grpo_fast.py: num_learners_per_node.
std::vector<std::int64_t> learners_of_nodes(const FrameworkSettingsReader& arguments) {
  constexpr std::int64_t kMostLearners = 1 << 16;
  std::vector<std::int64_t> learners;
  const auto said = arguments.find("num_learners_per_node");
  if (!said) return learners;
  for (const std::string& word : split_word_list(*said)) {
    const IntegerParseResult number = read_integer(word);
    if (number.status != IntegerParseResult::IntegerParseStatus::kGood || number.value < 1 ||
        number.value > kMostLearners) {
      said->fail(fmt::format("must be integers from 1 to {}; one is '{}'", kMostLearners,
                             one_line_printable_text(word)));
    }
    learners.push_back(number.value);
  }
  return learners;
}

/// Reads devices, batch and updates of a trainer of policies whose learners train together and
/// whose engines generate on other devices: allenai/open-instruct open_instruct/grpo_fast.py.
void read_learners(const FrameworkSettingsReader& arguments, PartialPlan& partial,
                   JobRankCounts& extent, StatedStepBatch& batch) {
  const std::vector<std::int64_t> learners = learners_of_nodes(arguments);
  if (learners.empty()) return;
  const std::int64_t ranks = std::accumulate(learners.begin(), learners.end(), std::int64_t{0});
  const auto nodes = static_cast<std::int64_t>(learners.size());
  const bool even = ranks == nodes * learners.front();
  extent.ranks = even ? std::nullopt : std::optional(ranks);
  extent.nodes = even ? std::optional(nodes) : std::nullopt;
  extent.devices_of_node = even ? std::optional(learners.front()) : std::nullopt;
  constexpr std::int64_t kUsualPrompts = 16;
  constexpr std::int64_t kUsualAnswers = 4;
  constexpr double kUsualPromptLength = 256;
  const std::int64_t parts = arguments.integer("num_mini_batches", 1);
  const double sequences =
      static_cast<double>(arguments.integer("num_unique_prompts_rollout", kUsualPrompts)) *
      static_cast<double>(arguments.integer("num_samples_per_prompt_rollout", kUsualAnswers)) /
      static_cast<double>(parts);
  partial.plan.micro_batch = arguments.integer("per_device_train_batch_size", 1);
  const double pass = static_cast<double>(partial.plan.micro_batch) * static_cast<double>(ranks);
  batch.micro_batches = std::max<std::int64_t>(1, std::llround(sequences / pass));
  partial.plan.recompute.kind = plan::RecomputeKind::kFull;
  partial.attention = cluster::AttentionKernel::kFlash2;
  if (__builtin_mul_overflow(parts, arguments.integer("num_epochs", 1), &partial.method.updates)) {
    arguments.node().fail("updates of a step are more than 2^63");
  }
  if (partial.method.rollout)
    partial.method.rollout->prompt =
        arguments.number("max_prompt_token_length", kUsualPromptLength);
}

/// Reads `--deepspeed` without a file but with `--zero_stage`, and `--deepspeed_stage` of learners,
/// for which the program makes the configuration. Returns that configuration's precision, if no
/// argument of the Trainer states one. deepspeedai/DeepSpeedExamples
/// applications/DeepSpeed-Chat/dschat/utils/ds_utils.py: get_train_ds_config;
/// training/step1_supervised_finetuning/main.py: parse_args.
std::optional<DType> read_switched_deepspeed(const FrameworkSettingsReader& arguments,
                                             const TransformersProgramFiles& files,
                                             TrainerDistribution& trainer,
                                             StatedModel& model_words) {
  if (!learners_of_nodes(arguments).empty()) {
    const DocumentTree zero =
        DocumentTree::make_empty_mapping().set("stage", arguments.integer("deepspeed_stage", 0, 0));
    trainer.deepspeed = YamlJsonDocument::from_tree(
        DocumentTree::make_empty_mapping().set("zero_optimization", zero), "get_train_ds_config");
    return DType::kBf16;
  }
  const auto on = arguments.node().find("deepspeed");
  if (files.deepspeed != nullptr || arguments.has("deepspeed_config") || !on || !on->is_scalar() ||
      on->text() != "true") {
    return std::nullopt;
  }
  if (!arguments.has("zero_stage")) {
    on->fail("names no configuration of DeepSpeed, which the program makes: give it as a file");
  }
  arguments.mark_setting_read("deepspeed");
  constexpr std::int64_t kPrefetched = 30'000'000;
  const std::int64_t stage = arguments.find("zero_stage")->integer(0, 3);
  DocumentTree zero = DocumentTree::make_empty_mapping();
  zero.set("stage", stage).set("overlap_comm", true);
  if (arguments.flag("offload", false)) {
    zero.set("offload_optimizer", DocumentTree::make_empty_mapping().set("device", "cpu"));
    if (stage == 3)
      zero.set("offload_param", DocumentTree::make_empty_mapping().set("device", "cpu"));
  }
  if (stage == 3) zero.set("stage3_prefetch_bucket_size", kPrefetched);
  trainer.deepspeed = YamlJsonDocument::from_tree(
      DocumentTree::make_empty_mapping().set("zero_optimization", zero), "get_train_ds_config");
  read_chat_adapters(arguments, model_words);
  if (arguments.has("bf16") || arguments.has("fp16")) return std::nullopt;
  static constexpr Named<DType> kTypes[] = {{DType::kFp16, "fp16"}, {DType::kBf16, "bf16"}};
  return arguments.choice("dtype", kTypes, DType::kFp16);
}

}  // namespace

bool read_fsdp_settings(const FrameworkSettingsReader& fields, bool section_alone,
                        TrainerDistribution& trainer) {
  const auto given = fields.find("fsdp");
  const auto section = fields.node().find("fsdp_config");
  const bool has_section =
      section && !section->is_null() && !(section->is_mapping() && section->size() == 0);
  const bool named = given && read_fsdp_words(*given, trainer);
  if (!named && !(section_alone && has_section)) return false;
  if (trainer.fsdp.states == "NNN" && !named) trainer.fsdp.states = "GGG";
  // The default version is 1 (axolotl 0.19.0 src/axolotl/utils/schemas/validation.py,
  // _resolve_fsdp_version), and transformers' arguments have no degrees of a mesh.
  trainer.fsdp.mesh = selects_fsdp2(fields.node().find("fsdp_version"), false);
  if (!has_section) return true;
  const FsdpOptions words = trainer.fsdp;
  trainer.fsdp = read_fsdp_section(fields.nested_settings("fsdp_config"), words);
  return true;
}

void read_trainer_settings(const FrameworkSettingsReader& arguments,
                           const TransformersProgramFiles& files, TrainerDistribution& trainer,
                           PartialPlan& settled, StatedStepBatch& batch, ImportReport& report) {
  settled.precision = trained_precision(arguments);
  read_loaded_type(arguments, trainer, settled);
  settled.plan.micro_batch =
      arguments.integer("per_device_train_batch_size", settled.plan.micro_batch);
  batch.micro_batches = arguments.integer("gradient_accumulation_steps", 1);
  for (const std::string_view key :
       {"gradient_checkpointing", "activation_checkpointing", "use_gradient_checkpointing",
        "fsdp_activation_checkpointing"}) {
    if (arguments.flag(key, false)) settled.plan.recompute.kind = plan::RecomputeKind::kFull;
  }
  if (arguments.flag(kActivationOffloadingKey, false)) {
    apply_layer_input_offload(arguments, kActivationOffloadingKey, settled.plan);
  }
  apply_checkpointed_input_offload(arguments, settled.plan);
  settled.apply_liger_loss(arguments.flag("use_liger_kernel", false));
  read_optimizer_name(arguments, "optim", settled, report);
  // DeepSpeed's own argument can also name the file: deepspeed/__init__.py: add_config_arguments.
  const std::string_view key = arguments.has("deepspeed_config") ? "deepspeed_config" : "deepspeed";
  if (!trainer.deepspeed) trainer.deepspeed = deepspeed_config_of_setting(arguments, key, files);
  if (trainer.fsdp.states == "NNN") read_fsdp_settings(arguments, false, trainer);
  if (arguments.flag("use_flash_attention_2", arguments.flag("use_flash_attn", false)))
    settled.attention = cluster::AttentionKernel::kFlash2;
  apply_attention_kernel(arguments, "attn_implementation", settled);
  read_accelerate_parallelism(arguments.nested_settings("parallelism_config"), trainer,
                              settled.plan);
}

void apply_checkpointed_input_offload(const FrameworkSettingsReader& arguments, plan::Plan& plan) {
  for (const std::string_view key :
       {"gradient_checkpointing_kwargs", "activation_checkpointing_kwargs"}) {
    const auto words = arguments.node().find(key);
    if (!words || !words->is_mapping() || !arguments.nested_settings(key).flag("offload", false))
      continue;
    apply_layer_input_offload(arguments.nested_settings(key), "offload", plan);
  }
}

void apply_layer_input_offload(const FrameworkSettingsReader& fields, std::string_view key,
                               plan::Plan& plan) {
  if (plan.recompute.kind == plan::RecomputeKind::kFull) return plan.offload.move_inputs();
  fields.record_unmodelled_setting(key, fields.node().get(key),
                                   "offload of all that is kept: its messages and what it frees");
}

PlanDraft complete_transformers_plan(const FrameworkSettingsReader& fields,
                                     const TransformersProgramFiles& files,
                                     TrainerDistribution& trainer, const UserFacts& given,
                                     PlanDraft draft, ImportReport& report,
                                     std::span<const KnownSetting> known) {
  const std::string& name = files.program->name;
  if (files.accelerate != nullptr || !files.launch.empty()) {
    read_accelerate_configuration(files, trainer, draft, draft.extent, report);
  }
  draft = complete_trainer_draft(trainer, given, std::move(draft), report, name);
  report_read_and_unread_settings(fields, name, known, report);
  for (SettingNotInPlan& one : report.not_read) {
    if (one.name == "tf32" && draft.precision != DType::kFp32) one.matters = SettingImpact::kNo;
  }
  return draft;
}

PlanDraft read_training_arguments(const FrameworkSettingsReader& arguments,
                                  const TransformersProgramFiles& files, const UserFacts& given,
                                  PlanDraft draft, ImportReport& report,
                                  std::span<const KnownSetting> known) {
  if (draft.framework.variant.empty()) draft.framework.variant = "transformers";
  apply_trainer_defaults(draft, draft.batch);
  TrainerDistribution trainer;
  // The first key is transformers' own, the others belong to scripts.
  for (const std::string_view key : {"model_name_or_path", "model_id_or_path", "base_model",
                                     "model_path", "pretrained_model_name_or_path", "model_id"}) {
    const auto id = arguments.node().find(key);
    if (!id || !id->is_scalar() || id->is_null()) continue;
    set_model_by_hub_id(*arguments.find(key), given, draft, report);
    break;
  }
  read_length(arguments, draft.batch);
  if (auto adapters = script_adapters(arguments, report)) draft.adapters = std::move(adapters);
  read_trl_packing(arguments, given, draft.batch, report);
  const auto precision = read_switched_deepspeed(arguments, files, trainer, draft);
  read_trainer_settings(arguments, files, trainer, draft, draft.batch, report);
  if (precision) draft.precision = *precision;
  read_learners(arguments, draft, draft.extent, draft.batch);
  return complete_transformers_plan(arguments, files, trainer, given, std::move(draft), report,
                                    known);
}

}  // namespace stepwright::framework_files

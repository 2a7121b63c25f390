#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "stepwright/core/error.h"
#include "stepwright/core/python_document.h"
#include "stepwright/core/tree.h"
#include "stepwright/framework_files/axolotl/unfrozen.h"
#include "stepwright/framework_files/draft/fields.h"
#include "stepwright/framework_files/draft/tables.h"
#include "stepwright/framework_files/draft/user_batch.h"
#include "stepwright/framework_files/huggingface/command_fields.h"
#include "stepwright/framework_files/huggingface/hub_script.h"
#include "stepwright/framework_files/huggingface/launch_words.h"
#include "stepwright/framework_files/huggingface/trainer.h"
#include "stepwright/framework_files/huggingface/training_arguments.h"
#include "stepwright/framework_files/launchers/environment.h"
#include "stepwright/framework_files/launchers/torchrun.h"
#include "stepwright/framework_files/targets/code.h"
#include "stepwright/model/catalog.h"

namespace stepwright::framework_files {
namespace {

/// Reads the types of weights and products. Weights have the type of resolve_dtype
/// (axolotl-ai-cloud/axolotl src/axolotl/utils/config/__init__.py; src/axolotl/loaders/model.py).
/// With `full` nothing is cast: src/axolotl/core/builders/base.py, _configure_precision_settings.
void read_types(const FrameworkSettingsReader& fields, TrainerDistribution& trainer,
                PartialPlan& settled, ImportReport& report) {
  const bool half = fields.flag("fp16", false) || fields.flag("float16", false);
  const auto brain = fields.find("bf16");
  const bool automatic = !brain || brain->text() == "auto";
  const bool full = brain && brain->text() == "full";
  const bool on = !automatic && (full || brain->boolean());
  if (on && half) fields.find("fp16")->fail("bf16 and fp16 are both true; only one can be");
  if (automatic && !half) {
    report.add_assumption("job.precision", "bf16 is auto: the devices have it");
  }
  const bool wide = fields.flag("float32", false) && automatic;
  const bool narrow = on || fields.flag("bfloat16", false) || (automatic && !half && !wide);
  settled.precision = half ? DType::kFp16 : narrow ? DType::kBf16 : DType::kFp32;
  if (narrow) trainer.weights = full ? LoadedWeightType::kPure : LoadedWeightType::kNarrow;
  if (fields.flag("fp8", false)) settled.precision = DType::kFp8;
}

void read_batch_of_axolotl(const FrameworkSettingsReader& fields, plan::Plan& plan,
                           StatedStepBatch& job_batch) {
  plan.micro_batch = fields.integer("micro_batch_size", 1);
  job_batch.micro_batches = fields.size("gradient_accumulation_steps");
  if (job_batch.micro_batches) return;
  const auto batch = fields.size("batch_size");
  job_batch.micro_batches = batch ? std::max<std::int64_t>(1, *batch / plan.micro_batch) : 1;
}

/// Reads whether inputs of recomputed layers are kept on the host or on disk: by older words of
/// `gradient_checkpointing`, or by `activation_offloading`, which without recomputation moves all
/// kept activations. Sources: axolotl-ai-cloud/axolotl src/axolotl/utils/schemas/validation.py,
/// src/axolotl/core/trainers/mixins/activation_checkpointing.py.
void read_checkpointing(const FrameworkSettingsReader& fields, plan::Plan& plan) {
  const auto given = fields.find("gradient_checkpointing");
  const auto is_word = [](const DocumentNode& node) {
    return node.text().starts_with("offload") || node.text() == "unsloth";
  };
  const bool word = given && is_word(*given);
  if (given && (word || given->boolean())) plan.recompute.kind = plan::RecomputeKind::kFull;
  apply_checkpointed_input_offload(fields, plan);
  const auto said = fields.find("activation_offloading");
  const bool moved = said && said->text() != "false";
  if (!word && !moved) return;
  const std::string key = word ? "gradient_checkpointing" : "activation_offloading";
  const DocumentNode& place = word ? *given : *said;
  const bool on_disk = place.text().find("disk") != std::string::npos;
  if (!on_disk) return apply_layer_input_offload(fields, key, plan);
  fields.record_unmodelled_setting(key, place,
                                   "offload to a disk: its reads and writes, and what it frees");
}

void read_attention_flags(const FrameworkSettingsReader& fields, PartialPlan& settled) {
  if (fields.flag("flash_attention", false)) settled.attention = cluster::AttentionKernel::kFlash2;
  if (fields.flag("eager_attention", false)) settled.attention = cluster::AttentionKernel::kUnfused;
  if (fields.flag("sdp_attention", false)) leave_attention_to_pytorch(settled);
  apply_attention_kernel(fields, "attn_implementation", settled);
}

/// True if axolotl's plugin for cut cross entropy is listed in `plugins` and not switched off.
bool names_cut_loss(const FrameworkSettingsReader& fields) {
  const auto plugins = fields.node().find("plugins");
  if (!plugins || !plugins->is_sequence() || fields.has("cut_cross_entropy")) return false;
  for (std::size_t i = 0; i < plugins->size(); ++i) {
    if (plugins->at(i).text().ends_with("CutCrossEntropyPlugin")) return fields.has("plugins");
  }
  return false;
}

/// Reads the kernel of the loss. Liger's and cut cross entropy never write all logits
/// (axolotl-ai-cloud/axolotl src/axolotl/integrations/{liger,cut_cross_entropy});
/// src/axolotl/monkeypatch/loss/chunked.py writes all logits, but copies only one chunk at a time.
void read_loss(const FrameworkSettingsReader& fields, PartialPlan& settled) {
  for (const std::string_view key : {"chunked_cross_entropy", "unsloth_cross_entropy_loss"}) {
    settled.fused_cross_entropy = fields.flag(key, false) || settled.fused_cross_entropy;
  }
  settled.apply_liger_loss(fields.flag("liger_fused_linear_cross_entropy", false));
  const bool cuts = fields.flag("cut_cross_entropy", false);
  if (!cuts && !names_cut_loss(fields)) return;
  settled.fused_cross_entropy = true;
  settled.loss = kCutCrossEntropyLoss;
}

/// Reads the section of ringmaster, which chooses Ulysses if its ranks divide the key and value
/// heads; axolotl-ai-cloud/axolotl examples/distributed-parallel/llama3-8b-ringmaster-cp.yaml.
bool read_ringmaster(const FrameworkSettingsReader& fields, const UserFacts& given,
                     plan::Plan& plan, const StatedModel& model_words, ImportReport& report) {
  static constexpr Named<plan::ContextKind> kBackends[] = {{plan::ContextKind::kUlysses, "ulysses"},
                                                           {plan::ContextKind::kRing, "ring"}};
  const FrameworkSettingsReader section = fields.nested_settings("context_parallel");
  const auto size = section.size("size");
  if (!size) return false;
  plan.parallel.context = *size;
  if (section.word("backend", "auto") != "auto") {
    plan.context_kind = section.choice("backend", kBackends, plan::ContextKind::kRing);
    return true;
  }
  const std::optional<model::ModelArchitecture>& model =
      model_words.model ? model_words.model : given.known_model;
  const bool divides = model && model->kv_heads % *size == 0;
  plan.context_kind = divides ? plan::ContextKind::kUlysses : plan::ContextKind::kRing;
  report.add_assumption("context_kind", divides
                                            ? "auto: its ranks divide the heads of keys and values"
                                            : "auto: its ranks do not divide the heads");
  return true;
}

/// Reads context parallelism: axolotl-ai-cloud/axolotl src/axolotl/utils/schemas/validation.py,
/// validate_ring_attn_func.
void read_context(const FrameworkSettingsReader& fields, plan::Plan& plan, ImportReport& report) {
  static constexpr Named<plan::ContextKind> kRings[] = {
      {plan::ContextKind::kAllGather, "varlen_llama3"},
      {plan::ContextKind::kRing, "batch_ring"},
      {plan::ContextKind::kRing, "batch_zigzag"},
      {plan::ContextKind::kRing, "batch_stripe"}};
  const std::int64_t older = fields.integer("sequence_parallel_degree", 1);
  plan.parallel.context = fields.integer("context_parallel_size", older);
  const auto packing = fields.node().find("sample_packing");
  const bool packed = packing && !packing->is_null() && packing->boolean();
  if (!fields.has("ring_attn_func")) {
    report.add_assumption("context_kind", packed
                                              ? "axolotl takes varlen_llama3 for packed sequences"
                                              : "axolotl takes batch_ring");
  }
  plan.context_kind = fields.choice(
      "ring_attn_func", kRings, packed ? plan::ContextKind::kAllGather : plan::ContextKind::kRing);
}

/// Reads the degrees of parallelism: axolotl-ai-cloud/axolotl src/axolotl/utils/distributed.py,
/// _get_parallel_config_kwargs.
void read_mesh(const FrameworkSettingsReader& fields, bool is_fsdp, const UserFacts& given,
               TrainerDistribution& trainer, plan::Plan& plan, StatedModel& model_words,
               ImportReport& report) {
  plan.parallel.tensor = fields.integer("tensor_parallel_size", 1);
  plan.parallel.expert = fields.integer("expert_parallel_size", 1);
  if (!read_ringmaster(fields, given, plan, model_words, report))
    read_context(fields, plan, report);
  const auto share = fields.size("dp_shard_size");
  if (share && *share > 1 && !is_fsdp) {
    fields.find("dp_shard_size")->fail("needs fsdp_config, which the file lacks");
  }
  if (share && *share > 1) trainer.share = share;
  const auto copies = fields.size("dp_replicate_size");
  if (copies && *copies > 1) {
    trainer.copies = *copies;
  } else if (trainer.share) {
    trainer.copies.reset();
  }
}

/// Distributes experts over all ranks that neither shard states nor split sequences; the other
/// ranks shard the experts' states. Source: axolotl-ai-cloud/axolotl
/// src/axolotl/integrations/expert_parallel/plugin.py: _resolve_ep_group, expert_shard_axis.
void settle_experts(const FrameworkSettingsReader& fields, const TrainerDistribution& trainer,
                    PartialPlan& settled) {
  const plan::ParallelismDegrees& degrees = settled.plan.parallel;
  if (degrees.expert == 1) return;
  const std::int64_t ranks = degrees.data * degrees.context;
  const std::int64_t share = trainer.share.value_or(1);
  if (degrees.expert * share * degrees.context != ranks) {
    fields.find("expert_parallel_size")
        ->fail(fmt::format("times dp_shard_size {} and context_parallel_size {} must be the {} "
                           "ranks",
                           share, degrees.context, ranks));
  }
  settled.expert_group = share > 1 ? share : degrees.context;
}

/// Reads LoRA adapters; absent values are peft's defaults. Sources: axolotl-ai-cloud/axolotl
/// src/axolotl/loaders/adapter.py: load_lora; src/axolotl/loaders/model.py:
/// _set_quantization_config.
std::optional<StatedLoraAdapters> axolotl_adapters(const FrameworkSettingsReader& fields) {
  const auto kind = fields.node().find("adapter");
  if (!kind || kind->is_null() || (kind->text() != "lora" && kind->text() != "qlora")) return {};
  fields.mark_setting_read("adapter");
  StatedLoraAdapters words = read_lora_adapter_settings(fields, "axolotl/adapters", "lora");
  if (!fields.flag("lora_target_linear", false)) return words;
  if (!fields.has("lora_target_modules") && !fields.has("lora_target_parameters")) {
    words.modules.clear();
  }
  words.modules.emplace_back("all-linear");
  return words;
}

/// The parts that `freeze_mm_modules` freezes: axolotl-ai-cloud/axolotl
/// src/axolotl/utils/freeze.py.
constexpr model::FrozenModelParts kFrozenImages = {.encoder = true, .projector = true};

/// Reads which parts of the model are frozen: axolotl-ai-cloud/axolotl src/axolotl/train.py:
/// freeze_layers_except, freeze_mm_modules.
void read_frozen_parts(const FrameworkSettingsReader& fields, const UserFacts& given,
                       StatedModel& model_words) {
  if (fields.flag("freeze_mm_modules", false)) model_words.frozen = kFrozenImages;
  const auto patterns = fields.node().find("unfrozen_parameters");
  const std::optional<model::ModelArchitecture>& model =
      model_words.model ? model_words.model : given.known_model;
  if (!patterns || !patterns->is_sequence() || !model || model_words.adapters) return;
  std::optional<model::FrozenModelParts> frozen =
      frozen_parts_from_axolotl_patterns(split_word_list(*patterns), *model);
  if (!frozen) return;
  fields.mark_setting_read("unfrozen_parameters");
  frozen->encoder = frozen->encoder || model_words.frozen;
  frozen->projector = frozen->projector || model_words.frozen;
  model_words.frozen = frozen;
}

/// Reads sample packing. `pack_group` keeps samples in their order, `allocate_sequentially` closes
/// a sequence when the next sample does not fit (axolotl-ai-cloud/axolotl
/// src/axolotl/utils/samplers/multipack.py); packed sequences are padded unless set otherwise
/// (src/axolotl/utils/schemas/validation.py). Keys: src/axolotl/utils/schemas/config.py:
/// sample_packing_group_size, excess_length_strategy.
void read_multipack(const FrameworkSettingsReader& fields, const UserFacts& given,
                    StatedStepBatch& batch, ImportReport& report) {
  static constexpr Named<packing::LongDocumentPolicy> kExcess[] = {
      {packing::LongDocumentPolicy::kDrop, "drop"},
      {packing::LongDocumentPolicy::kTruncate, "truncate"},
      {packing::LongDocumentPolicy::kRefuse, "raise"}};
  constexpr std::int64_t kUsualGroup = 100000;
  StatedDocumentPacking words;
  packing::Packing& packing = words.packing;
  packing.too_long =
      fields.choice("excess_length_strategy", kExcess, packing::LongDocumentPolicy::kDrop);
  if (packs_documents(fields, "sample_packing", given)) {
    const bool in_order = fields.flag("sample_packing_sequentially", false);
    packing.kind = in_order ? packing::PackingKind::kGreedy : packing::PackingKind::kFirstFit;
    packing.order = packing::PackingOrder::kAsTheyCome;
    packing.group = fields.integer("sample_packing_group_size", kUsualGroup);
    packing.pad_to = fields.flag("pad_to_sequence_len", true) ? packing::PaddingTarget::kLength
                                                              : packing::PaddingTarget::kLongest;
  }
  set_user_document_packing(fields, "sample_packing", words, given, batch);
  const auto packs = fields.node().find("sample_packing");
  const bool packed = packs && !packs->is_null() && packs->boolean();
  if (!packed && !fields.flag("pad_to_sequence_len", false)) {
    report_max_example_length_as_unread(fields, "sequence_len", given, batch, report);
  }
}

PlanDraft read_axolotl_program(const TransformersProgramFiles& files,
                               const YamlJsonDocument& document, const UserFacts& given,
                               PlanDraft draft, ImportReport& report) {
  const FrameworkSettingsReader fields(document.root());
  if (files.model) draft.model = model::read_huggingface_config(*files.model, &report.notes);
  if (const auto id = fields.find("base_model")) set_model_by_hub_id(*id, given, draft, report);
  apply_trainer_defaults(draft, draft.batch);
  TrainerDistribution trainer;
  constexpr std::int64_t kUsualLength = 512;
  draft.batch.length = fields.integer("sequence_len", kUsualLength);
  read_batch_of_axolotl(fields, draft.plan, draft.batch);
  read_types(fields, trainer, draft, report);
  read_checkpointing(fields, draft.plan);
  read_attention_flags(fields, draft);
  read_loss(fields, draft);
  draft.adapters = axolotl_adapters(fields);
  read_frozen_parts(fields, given, draft);
  read_multipack(fields, given, draft.batch, report);
  read_optimizer_name(fields, "optimizer", draft, report);
  const bool is_fsdp = read_fsdp_settings(fields, true, trainer);
  read_mesh(fields, is_fsdp, given, trainer, draft.plan, draft, report);
  trainer.deepspeed = deepspeed_config_of_setting(fields, "deepspeed", files);
  draft = complete_transformers_plan(fields, files, trainer, given, std::move(draft), report,
                                     known_program_settings("axolotl/settings"));
  settle_experts(fields, trainer, draft);
  return draft;
}

/// Returns the word that names the settings file in a command that starts axolotl's training; null
/// for other commands (axolotl-ai-cloud/axolotl src/axolotl/cli/main.py: train).
const ShellWord* settings_of_axolotl(Words words) {
  bool starts = false;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& text = words[i].text;
    if (starts && is_yaml_or_json_path(text)) return &words[i];
    starts = starts || text == "axolotl.cli.train" || text.ends_with("axolotl/cli/train.py") ||
             (text == "train" && i > 0 && words[i - 1].text.ends_with("axolotl"));
  }
  return nullptr;
}

/// Reads a shell script that starts axolotl with a settings file; options of the command override
/// the file.
PlanDraft read_axolotl_script(Sources files, const SourceFile& script, const UserFacts& given,
                              PlanDraft draft, ImportReport& report) {
  const StartedProgramRule program{
      .framework = "axolotl",
      .arguments = "axolotl train FILE.yaml",
      .starts = starts_axolotl,
      .has_argument = is_name_value_argument,
      .matters = step_relevant_argument_predicate(known_program_settings("axolotl/settings"))};
  TransformersScriptRun read =
      read_transformers_script(script, files, given, program, draft.start, report);
  const std::vector<ShellWord> words = read.command.command_words_with_overrides();
  read_launcher_rank_counts(read.command, draft.extent, report);
  set_program_settings_file(*settings_of_axolotl(words), read);
  read_accelerate_launch_options(read.command, read.files, report);
  YamlJsonDocument said =
      parse_like_python_yaml(read.files.program->text, read.files.program->name);
  draft = read_axolotl_program(
      read.files, with_fsdp_file_contents(with_command_arguments(said, words), read.files), given,
      std::move(draft), report);
  read_environment_settings(read.command, draft, draft.extent, report);
  return draft;
}

}  // namespace

bool starts_axolotl(Words words) { return settings_of_axolotl(words) != nullptr; }

PlanDraft read_axolotl(Sources files, const UserFacts& given, PlanDraft draft,
                       ImportReport& report) {
  const auto script = std::ranges::find_if(files, is_shell_script);
  if (script != files.end())
    return read_axolotl_script(files, *script, given, std::move(draft), report);
  const TransformersProgramFiles sorted = sort_transformers_files(files);
  if (sorted.program == nullptr) fail_input(sorted.name + ": is not a configuration of axolotl");
  return read_axolotl_program(sorted, program_settings_document(sorted, given), given,
                              std::move(draft), report);
}

}  // namespace stepwright::framework_files

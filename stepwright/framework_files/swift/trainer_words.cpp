#include "stepwright/framework_files/swift/trainer_words.h"

#include <algorithm>
#include <string>

#include "stepwright/core/tree.h"
#include "stepwright/framework_files/draft/tables.h"
#include "stepwright/framework_files/draft/user_batch.h"
#include "stepwright/framework_files/huggingface/trainer.h"
#include "stepwright/framework_files/huggingface/training_arguments.h"

namespace stepwright::framework_files {
namespace {

/// A DeepSpeed configuration that comes with ms-swift under a name: swift/config/zero*.json.
struct OwnDeepSpeed {
  std::string_view name;
  int stage = 0;
  bool offloads = false;
};
constexpr OwnDeepSpeed kOwnDeepSpeed[] = {{"zero0", 0},
                                          {"zero1", 1},
                                          {"zero2", 2},
                                          {"zero3", 3},
                                          {"zero2_offload", 2, true},
                                          {"zero3_offload", 3, true}};

YamlJsonDocument own_deepspeed(const OwnDeepSpeed& own) {
  constexpr std::int64_t kBucket = 200'000'000;
  const bool third = own.stage == 3;
  DocumentTree zero = DocumentTree::make_empty_mapping();
  zero.set("stage", own.stage).set("overlap_comm", false);
  if (own.offloads)
    zero.set("offload_optimizer", DocumentTree::make_empty_mapping().set("device", "cpu"));
  if (own.offloads && third)
    zero.set("offload_param", DocumentTree::make_empty_mapping().set("device", "cpu"));
  zero.set("reduce_bucket_size", third ? DocumentTree("auto") : DocumentTree(kBucket));
  if (third) zero.set("stage3_prefetch_bucket_size", "auto");
  if (!third) zero.set("allgather_bucket_size", kBucket);
  return YamlJsonDocument::from_tree(
      DocumentTree::make_empty_mapping().set("zero_optimization", zero), std::string(own.name));
}

/// Applies the configurations that come with ms-swift and that `--deepspeed zero3` and `--fsdp
/// fsdp2` name.
void take_own_configurations(const FrameworkSettingsReader& fields, TrainerDistribution& trainer) {
  const auto deepspeed = fields.node().find("deepspeed");
  if (deepspeed && deepspeed->is_scalar()) {
    const auto* own = std::ranges::find(kOwnDeepSpeed, deepspeed->text(), &OwnDeepSpeed::name);
    if (own != std::end(kOwnDeepSpeed)) trainer.deepspeed = own_deepspeed(*own);
  }
  if (trainer.deepspeed) fields.mark_setting_read("deepspeed");
  const auto fsdp = fields.node().find("fsdp");
  if (!fsdp || !fsdp->is_scalar() || fsdp->text() != "fsdp2") return;
  fields.mark_setting_read("fsdp");
  trainer.fsdp = {.states = "GGG", .checkpointing = true};
}

/// Returns the ranks that files and options state; nullopt: they do not.
std::optional<std::int64_t> ranks_started(const UserFacts& given, const JobRankCounts& extent) {
  if (given.devices) return given.devices;
  if (extent.ranks) return extent.ranks;
  const auto nodes = given.nodes ? given.nodes : extent.nodes;
  if (nodes && extent.devices_of_node) return *nodes * *extent.devices_of_node;
  return std::nullopt;
}

/// Sets gradient accumulation so that a step has 16 sequences, unless it is stated:
/// swift/trainers/arguments.py.
PlanDraft fill_accumulation(const FrameworkSettingsReader& fields, const UserFacts& given,
                            PlanDraft draft, ImportReport& report) {
  if (fields.has("gradient_accumulation_steps")) return draft;
  constexpr std::int64_t kUsualSequences = 16;
  const std::int64_t pass = draft.plan.micro_batch * ranks_started(given, draft.extent).value_or(1);
  draft.batch.micro_batches = (kUsualSequences + pass - 1) / pass;
  report.add_assumption("job.batch.sequences",
                        "ms-swift accumulates 16 sequences where nothing is said");
  return draft;
}

/// Reads the weights' type, which is also the type of autocast: modelscope/ms-swift
/// swift/llm/argument/base_args/model_args.py, _init_mixed_precision.
void read_weights_type(const FrameworkSettingsReader& fields, TrainerDistribution& trainer,
                       PartialPlan& settled, ImportReport& report) {
  static constexpr Named<DType> kTypes[] = {
      {DType::kBf16, "bfloat16"}, {DType::kFp16, "float16"}, {DType::kFp32, "float32"}};
  if (fields.has("torch_dtype")) {
    settled.precision = fields.choice("torch_dtype", kTypes, DType::kBf16);
  } else if (!fields.has("bf16") && !fields.has("fp16")) {
    settled.precision = DType::kBf16;
    report.add_assumption("job.precision", "the type of the model's weights, taken to be bf16");
  }
  if (settled.precision == DType::kBf16) trainer.weights = LoadedWeightType::kNarrow;
}

}  // namespace

void read_swift_adapters(const FrameworkSettingsReader& fields, std::string_view usual,
                         const UserFacts& given, StatedModel& model_words, ImportReport& report) {
  // Both are true by default: swift/arguments/tuner_args.py and
  // swift/megatron/arguments/megatron_args.py.
  model_words.frozen = model::FrozenModelParts{.encoder = fields.flag("freeze_vit", true),
                                               .projector = fields.flag("freeze_aligner", true)};
  std::string kind(usual);
  for (const std::string_view key : {"train_type", "tuner_type"}) {
    const auto word = fields.node().find(key);
    if (!word || word->is_null()) continue;
    kind = word->text();
    // lora_llm adds adapters to the language model and trains the encoder's weights.
    const std::optional<model::ModelArchitecture>& model =
        model_words.model ? model_words.model : given.known_model;
    const bool text = kind == "lora_llm" && model && !model->encoder;
    if (kind == "lora" || kind == "full" || text) fields.mark_setting_read(key);
  }
  if (kind != "lora" && kind != "lora_llm") return;
  if (!fields.was_setting_read("tuner_type") && !fields.was_setting_read("train_type")) {
    report.add_assumption("job.adapters", "ms-swift trains LoRA where tuner_type does not say");
  }
  model_words.adapters = read_lora_adapter_settings(fields, "swift/adapters", "lora");
  // ms-swift 3 requires transformers before 5 (requirements/framework.txt), in which experts are
  // modules.
  const bool third = fields.node().find("train_type").has_value();
  model_words.adapters->of_transformers = usual == "lora" && !third;
  if (third && usual == "lora") {
    report.add_assumption(
        "job.adapters.targets",
        "train_type is of ms-swift 3, on transformers before 5: experts are modules there");
  }
  if (model_words.adapters->base != DType::kBf16) fields.mark_setting_read("quant_method");
}

void read_swift_method(const FrameworkSettingsReader& fields, PartialPlan& partial,
                       StatedStepBatch& batch) {
  constexpr double kUsualBeta = 0.04;
  constexpr std::int64_t kUsualCompletion = 512;
  const auto kind = fields.node().find("rlhf_type");
  if (!kind || kind->is_null()) return;
  read_trl_method(kind->text(), fields, partial, kUsualBeta);
  if (!partial.method.rollout || !batch.length) return;
  // `max_length` bounds the prompt: swift/rlhf_trainers/grpo_trainer.py.
  partial.method.rollout->prompt = static_cast<double>(*batch.length);
  *batch.length += fields.integer("max_completion_length", kUsualCompletion);
}

/// Reads packing (modelscope/ms-swift swift/dataset/packing.py). `calculate_matched_group` packs by
/// `binpacking.to_constant_volume`, longest document first; documents of a group's last, partly
/// filled sequence move on to the next group. Documents longer than `max_length` are dropped
/// (swift/arguments/base_args/template_args.py). Neither packed sequences nor, with `padding_free`,
/// micro-batches are padded.
void read_swift_packing(const FrameworkSettingsReader& fields, const UserFacts& given,
                        StatedStepBatch& batch, ImportReport& report) {
  static constexpr Named<packing::LongDocumentPolicy> kTruncations[] = {
      {packing::LongDocumentPolicy::kDrop, "delete"},
      {packing::LongDocumentPolicy::kTruncate, "left"},
      {packing::LongDocumentPolicy::kTruncate, "right"},
      {packing::LongDocumentPolicy::kSplit, "split"}};
  static constexpr Named<packing::PackingKind> kPackers[] = {
      {packing::PackingKind::kFirstFit, "binpack"}, {packing::PackingKind::kGreedy, "sequential"}};
  StatedDocumentPacking words = {.packing = {.pad_to = packing::PaddingTarget::kNone}};
  words.packing.too_long =
      fields.choice("truncation_strategy", kTruncations, packing::LongDocumentPolicy::kDrop);
  set_user_document_packing(fields, "padding_free", words, given, batch);
  const auto packs = fields.node().find("packing");
  const bool packed = packs && !packs->is_null() && packs->boolean();
  if (!packed && fields.has("max_length"))
    report_max_example_length_as_unread(fields, "max_length", given, batch, report);
  if (!packs_documents(fields, "packing", given)) return;
  words.packing.kind = fields.choice("packing_strategy", kPackers, packing::PackingKind::kFirstFit);
  set_user_document_packing(fields, "packing", words, given, batch);
}

PlanDraft read_swift_trainer_arguments(const FrameworkSettingsReader& fields,
                                       const TransformersProgramFiles& files,
                                       const UserFacts& given, PlanDraft draft,
                                       ImportReport& report) {
  draft.framework = {.name = "accelerate"};
  apply_trainer_defaults(draft, draft.batch);
  draft.plan.micro_batch = 1;
  TrainerDistribution trainer;
  if (const auto id = fields.find("model")) set_model_by_hub_id(*id, given, draft, report);
  draft.batch.length = fields.size("max_length");
  const bool recomputes = fields.flag("gradient_checkpointing", true);
  draft.plan.recompute.kind = recomputes ? plan::RecomputeKind::kFull : plan::RecomputeKind::kNone;
  take_own_configurations(fields, trainer);
  read_trainer_settings(fields, files, trainer, draft, draft.batch, report);
  draft = fill_accumulation(fields, given, std::move(draft), report);
  read_weights_type(fields, trainer, draft, report);
  apply_attention_kernel(fields, "attn_impl", draft);
  draft.plan.parallel.context = fields.integer("sequence_parallel_size", 1);
  draft.plan.context_kind = plan::ContextKind::kUlysses;
  draft.plan.parallel.tensor = fields.integer("deepspeed_autotp_size", 1);
  read_swift_adapters(fields, "lora", given, draft, report);
  read_swift_packing(fields, given, draft.batch, report);
  read_swift_method(fields, draft, draft.batch);
  draft = complete_transformers_plan(fields, files, trainer, given, std::move(draft), report,
                                     known_program_settings("swift/settings"));
  if (draft.method.kind == plan::TrainingMethodKind::kDpo)
    double_preference_pair_batch(draft.plan, draft.batch, report);
  return draft;
}

}  // namespace stepwright::framework_files

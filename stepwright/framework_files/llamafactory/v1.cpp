#include "stepwright/framework_files/llamafactory/v1.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "stepwright/core/error.h"
#include "stepwright/framework_files/draft/fields.h"
#include "stepwright/framework_files/draft/tables.h"
#include "stepwright/framework_files/draft/user_batch.h"
#include "stepwright/framework_files/huggingface/fsdp_options.h"
#include "stepwright/framework_files/huggingface/trainer.h"
#include "stepwright/model/catalog.h"

namespace stepwright::framework_files {
namespace {

/// How the trainer shards states: src/llamafactory/v1/plugins/trainer_plugins/distributed/hub.py,
/// DistributedPlugin.
enum class Sharing : std::uint8_t { kNone, kFsdp2, kFsdpTurbo, kDeepSpeed };
constexpr Named<Sharing> kSharings[] = {{Sharing::kFsdp2, "fsdp2"},
                                        {Sharing::kFsdpTurbo, "fsdpturbo"},
                                        {Sharing::kDeepSpeed, "deepspeed"}};

/// Reads adapters: src/llamafactory/v1/plugins/model_plugins/peft.py: get_lora_model;
/// .../quantization.py: quantization_with_bnb.
std::optional<StatedLoraAdapters> v1_adapters(const FrameworkSettingsReader& fields) {
  const FrameworkSettingsReader peft = fields.nested_settings("peft_config");
  const auto name = peft.node().find("name");
  if (!name || name->is_null() || name->text() != "lora") return {};
  peft.mark_setting_read("name");
  StatedLoraAdapters words = read_lora_adapter_settings(peft, "llamafactory/adapters", "v1");
  words.base = read_frozen_weight_type(fields.nested_settings("quant_config"), "quantization_bit");
  return words;
}

/// Reads the optimizer: src/llamafactory/v1/plugins/trainer_plugins/optimizer.py, OptimizerPlugin.
void read_v1_optimizer(const FrameworkSettingsReader& section, PartialPlan& settled,
                       ImportReport& report) {
  static constexpr OptimizerNameMeaning kWords[] = {{"muon", plan::Optimizer::kMuon}, {"adamw"}};
  const auto name = section.node().find("name");
  if (!name || name->is_null()) return;
  const auto* known = std::ranges::find(kWords, name->text(), &OptimizerNameMeaning::word);
  set_optimizer_by_name(section, "name", known == std::end(kWords) ? nullptr : known, settled,
                        report);
}

/// Reads Liger's kernels. The logits are kept, because the loss is weighted:
/// src/llamafactory/v1/plugins/model_plugins/kernels/interface.py: apply_liger_kernels.
void read_v1_kernels(const FrameworkSettingsReader& section, PartialPlan& settled) {
  if (section.word("name", "") != "liger_kernel") return;
  const auto included = section.node().find("include_kernels");
  if (!included || included->is_null() || included->text() == "false") return;
  const std::vector<std::string> parts = split_word_list(*section.find("include_kernels"));
  const auto has = [&](std::string_view part) {
    return parts.front() == "auto" || parts.front() == "true" ||
           std::ranges::find(parts, part) != parts.end();
  };
  settled.kernels.emplace_back(&plan::FrameworkKernels::fused_norm, has("rms_norm"));
  settled.kernels.emplace_back(&plan::FrameworkKernels::fused_activation, has("swiglu"));
}

/// Reads the degrees, and the number of ranks if a file states all sizes of one of the two meshes:
/// src/llamafactory/v1/accelerator/interface.py: DistributedStrategy.
void read_v1_degrees(const FrameworkSettingsReader& dist, Sharing sharing, plan::Plan& plan,
                     JobRankCounts& extent) {
  static constexpr Named<plan::ContextKind> kModes[] = {{plan::ContextKind::kUlysses, "ulysses"},
                                                        {plan::ContextKind::kRing, "ring"},
                                                        {plan::ContextKind::kRing, "ring_zigzag"}};
  plan::ParallelismDegrees& degrees = plan.parallel;
  degrees.context = dist.integer("cp_size", 1);
  plan.context_kind = dist.choice("cp_mode", kModes, plan::ContextKind::kUlysses);
  if (sharing == Sharing::kFsdpTurbo) degrees.expert = dist.integer("ep_size", 1);
  if (const auto data = dist.size("dp_size")) extent.ranks = *data * degrees.context;
  const auto share = dist.size("mp_shard_size");
  if (share && !extent.ranks) extent.ranks = *share * dist.integer("mp_replicate_size", 1);
}

/// Shards the states over replicas x shards of ranks, which include context-parallel ranks; the
/// mesh of FSDPTurbo has data-parallel ranks only.
void share_states(const FrameworkSettingsReader& dist, const std::string& file,
                  PartialPlan& settled, const JobRankCounts& extent, ImportReport& report) {
  const std::int64_t ranks = settled.plan.parallel.data * settled.plan.parallel.context;
  const std::int64_t copies = dist.integer("mp_replicate_size", 1);
  const std::int64_t share =
      dist.integer("mp_shard_size", std::max<std::int64_t>(1, ranks / copies));
  if (copies * share != ranks || settled.plan.parallel.data % copies != 0) {
    fail_input(
        fmt::format("{}: dist_config: mp_replicate_size {} x mp_shard_size {} are not the {} "
                    "ranks, of which {} share sequences",
                    file, copies, share, ranks, settled.plan.parallel.context));
  }
  FsdpOptions choice{.states = dist.flag("reshard_after_forward", true) ? "GGG" : "NGG"};
  if (dist.flag("offload_params", false)) {
    choice.offload = make_unread_setting(*dist.find("offload_params"));
  }
  apply_fsdp_options(choice, copies, settled, extent, report);
}

/// Returns the precision for a DeepSpeed configuration that leaves it open:
/// src/llamafactory/v1/plugins/model_plugins/deepspeed_utils.py: infer_deepspeed_mixed_precision.
DType precision_of_deepspeed(const YamlJsonDocument& document) {
  const FrameworkSettingsReader root(document.root());
  const std::string half = root.nested_settings("fp16").word("enabled", "auto");
  const std::string brain = root.nested_settings("bf16").word("enabled", "auto");
  if (half == "true") {
    root.nested_settings("fp16").find("enabled")->fail(
        "must be false: LLaMA-Factory v1 takes bf16 alone");
  }
  const bool off = brain == "false" || (brain != "true" && half == "false");
  return off ? DType::kFp32 : DType::kBf16;
}

PlanDraft settle_deepspeed(const FrameworkSettingsReader& dist,
                           const TransformersProgramFiles& files, const UserFacts& given,
                           PlanDraft draft, ImportReport& report) {
  TrainerDistribution trainer;
  trainer.deepspeed = deepspeed_config_of_setting(dist, "config_file", files);
  if (!trainer.deepspeed) dist.node().fail("must say config_file, the configuration of DeepSpeed");
  draft.precision = precision_of_deepspeed(*trainer.deepspeed);
  const std::string& name = files.program->name;
  resolve_cluster_and_data_degree(draft.plan, draft.extent, report, given, name);
  const std::int64_t pass = draft.plan.parallel.data * draft.plan.micro_batch;
  if (draft.batch.sequences && *draft.batch.sequences % pass == 0)
    draft.batch.micro_batches = *draft.batch.sequences / pass;
  return complete_trainer_draft(trainer, given, std::move(draft), report, name);
}

/// Settles FSDP2, in bf16 with fp32 parameters, or plain data parallelism, which computes in the
/// weights' type: fp32, or with adapters the type in the file. v1/core/model_engine.py:
/// _init_model.
PlanDraft settle_fsdp(const FrameworkSettingsReader& fields, Sharing sharing,
                      const TransformersProgramFiles& files, const UserFacts& given,
                      PlanDraft draft, ImportReport& report) {
  const std::string& name = files.program->name;
  draft.framework.name = "fsdp";
  draft.framework_overlap = true;
  draft.plan.accumulate = DType::kFp32;
  resolve_cluster_and_data_degree(draft.plan, draft.extent, report, given, name);
  if (sharing == Sharing::kNone) {
    draft.plan.sharding = plan::sharding_named_by_word("NNN").value();
    draft.precision = draft.adapters ? DType::kBf16 : DType::kFp32;
    report.add_assumption("job.precision",
                          draft.adapters
                              ? "the type of the model's weights, taken to be bf16"
                              : "without dist_config weights are fp32, and nothing casts");
    return draft;
  }
  draft.precision = fields.flag("bf16", true) ? DType::kBf16 : DType::kFp32;
  share_states(fields.nested_settings("dist_config"), name, draft, draft.extent, report);
  return draft;
}

/// Reads packing: the documents of a micro-batch follow one another
/// (src/llamafactory/v1/plugins/trainer_plugins/batching.py).
void read_v1_packing(const FrameworkSettingsReader& fields, const UserFacts& given,
                     StatedStepBatch& batch) {
  static constexpr std::array<std::string_view, 4> kBatchings = {
      "normal", "padding_free", "dynamic_batching", "dynamic_padding_free"};
  const auto said = fields.node().find("batching_strategy");
  if (!said || said->is_null()) return;
  if (std::ranges::find(kBatchings, said->text()) == kBatchings.end()) {
    said->fail("must be one of normal, padding_free, dynamic_batching, dynamic_padding_free");
  }
  if (!read_batch_option(given.batch).documents || said->text() != "padding_free") return;
  batch.packing =
      StatedDocumentPacking{.packing = {.pad_to = packing::PaddingTarget::kNone,
                                        .too_long = packing::LongDocumentPolicy::kDrop}};
  fields.mark_setting_read("batching_strategy");
}

}  // namespace

PlanDraft read_llama_factory_v1(const TransformersProgramFiles& files, const UserFacts& given,
                                PlanDraft draft, ImportReport& report) {
  constexpr std::int64_t kUsualLength = 2048;
  const YamlJsonDocument document = program_settings_document(files, given);
  const FrameworkSettingsReader fields(document.root());
  if (files.model) draft.model = model::read_huggingface_config(*files.model, &report.notes);
  if (const auto id = fields.find("model")) set_model_by_hub_id(*id, given, draft, report);
  draft.batch.length = fields.integer("cutoff_len", kUsualLength);
  draft.plan.micro_batch = fields.integer("micro_batch_size", 1);
  draft.batch.sequences = fields.size("global_batch_size");
  if (!draft.batch.sequences) draft.batch.micro_batches = 1;
  const bool recomputes = fields.flag("enable_activation_checkpointing", true);
  draft.plan.recompute.kind = recomputes ? plan::RecomputeKind::kFull : plan::RecomputeKind::kNone;
  if (!fields.has("enable_activation_checkpointing")) {
    report.add_assumption("recompute", "on unless enable_activation_checkpointing is false");
  }
  apply_attention_kernel(fields, "flash_attn", draft);
  draft.adapters = v1_adapters(fields);
  read_v1_optimizer(fields.nested_settings("optim_config"), draft, report);
  read_v1_kernels(fields.nested_settings("kernel_config"), draft);
  read_v1_packing(fields, given, draft.batch);
  const FrameworkSettingsReader dist = fields.nested_settings("dist_config");
  const auto named = dist.find("name");
  if (dist.node().size() > 0 && !named) dist.node().fail("must say name");
  const Sharing sharing = named ? named->choice(kSharings) : Sharing::kNone;
  read_v1_degrees(dist, sharing, draft.plan, draft.extent);
  if (sharing == Sharing::kDeepSpeed) {
    draft = settle_deepspeed(dist, files, given, std::move(draft), report);
  } else {
    draft = settle_fsdp(fields, sharing, files, given, std::move(draft), report);
  }
  if (sharing == Sharing::kFsdpTurbo && !draft.adapters) {
    dist.record_unmodelled_setting(
        "name", *named, "that parameters and their optimizer's states are in bf16 there");
  }
  report_read_and_unread_settings(fields, files.program->name,
                                  known_program_settings("llamafactory/v1"), report);
  return draft;
}

}  // namespace stepwright::framework_files

#include "stepwright/framework_files/rl/verl_engine.h"

#include <fmt/format.h>

#include <algorithm>

#include "stepwright/framework_files/huggingface/fsdp_options.h"

namespace stepwright::framework_files {
namespace {

constexpr std::int64_t kMostMicroBatch = 1'000'000;  // sequences

}  // namespace

void read_verl_fsdp_engine(const FrameworkSettingsReader& config, bool second, PartialPlan& settled,
                           ImportReport& report) {
  plan::Plan& plan = settled.plan;
  if (plan.parallel.context > 1) plan.context_kind = plan::ContextKind::kUlysses;
  const std::int64_t ranks = plan.parallel.data * plan.parallel.context;
  const auto size = config.find("fsdp_size");
  const std::int64_t group = size ? size->integer(-1, kMaxIntegerSetting) : -1;
  const bool again = config.flag("reshard_after_forward", true);
  const bool whole = group <= 0 || group >= ranks;
  if (!whole && ranks % group != 0) size->fail(fmt::format("must divide {} ranks", ranks));
  plan.sharding =
      plan::sharding_named_by_word(whole ? (again ? "GGG" : "NGG") : (again ? "III" : "NII"))
          .value();
  if (!whole) plan.sharding.group = group;
  // Only FSDP2 has an offload policy: verl/workers/engine/fsdp/transformer_impl.py.
  if (second && config.flag("offload_policy", false)) {
    set_fsdp_host_offload(make_unread_setting(*config.find("offload_policy")), settled, report);
  }
  static constexpr Named<DType> kTypes[] = {{DType::kFp32, "fp32"},
                                            {DType::kFp32, "float32"},
                                            {DType::kBf16, "bf16"},
                                            {DType::kBf16, "bfloat16"}};
  // The type is mixed_precision.reduce_dtype in verl/workers/engine/fsdp/transformer_impl.py.
  plan.accumulate =
      config.nested_settings("mixed_precision").choice("reduce_dtype", kTypes, DType::kFp32);
}

PlanDraft read_verl_parameter_type(const FrameworkSettingsReader& config, PlanDraft draft) {
  const auto type = config.node().find("model_dtype");
  const std::string word = type && type->is_scalar() ? type->text() : "fp32";
  const bool narrow = word == "bf16" || word == "bfloat16";
  if (!narrow && word != "fp32" && word != "float32") return draft;
  config.mark_setting_read("model_dtype");
  if (narrow && !draft.adapters) draft.masters = plan::MasterWeights::kNone;
  return draft;
}

void read_verl_model_section(const FrameworkSettingsReader& model, plan::Plan& plan,
                             StatedModel& model_words) {
  if (model.flag("enable_gradient_checkpointing", true)) {
    plan.recompute.kind = plan::RecomputeKind::kFull;
    // verl/utils/activation_offload.py offloads checkpoints, the input of each layer except the
    // last; without checkpoints all kept activations, which no plan expresses.
    if (model.flag("enable_activation_offload", false)) plan.offload.move_inputs();
  }
  // LoRA is on if lora_rank is above 0: verl/workers/engine/fsdp/transformer_impl.py.
  const auto rank = model.node().find("lora_rank");
  if (!rank || rank->is_null() || rank->integer(0, kMaxIntegerSetting) == 0) return;
  model_words.adapters = read_lora_adapter_settings(model, "rl/adapters", "verl");
}

std::optional<StatedLoraAdapters> verl_megatron_adapters(const FrameworkSettingsReader& lora) {
  const auto rank = lora.node().find("rank");
  if (!rank || rank->is_null() || rank->integer(0, kMaxIntegerSetting) == 0) return {};
  return read_lora_adapter_settings(lora, "rl/adapters", "verl_megatron");
}

void set_verl_update_batch(std::int64_t sequences, std::int64_t micro_batch, plan::Plan& plan,
                           StatedStepBatch& batch, ImportReport& report) {
  batch.sequences = sequences;
  const std::int64_t share = std::max<std::int64_t>(1, sequences / plan.parallel.data);
  const std::int64_t stated = std::min({micro_batch, share, kMostMicroBatch});
  // The last micro-batches of an update can be smaller, those of a plan are equal: the nearest
  // size.
  std::int64_t below = stated;
  while (share % below != 0) --below;
  const std::int64_t nearer = stated * stated / below;
  std::int64_t above = stated;
  while (above < nearer && share % above != 0) ++above;
  std::int64_t& micro = plan.micro_batch;
  micro = share % above == 0 ? above : below;
  if (micro == micro_batch) return;
  report.notes.push_back(
      fmt::format("Micro-batches have {} sequences, because the {} sequences of a rank are not a "
                  "multiple of {}.",
                  micro, share, micro_batch));
}

DocumentTree verl_megatron_defaults(const DocumentTree& said) {
  DocumentTree usual = DocumentTree::make_empty_mapping();
  const DocumentTree* fsdp = said.find("use_megatron_fsdp");
  if (fsdp != nullptr && fsdp->text == "true") {
    usual.set("data_parallel_sharding_strategy", "optim_grads_params");
  }
  usual.set("sequence_parallel", true).set("use_distributed_optimizer", true);
  usual.set("attention_backend", "flash");
  return usual.set("precision", "bf16").set("grad_reduce_in_fp32", true);
}

}  // namespace stepwright::framework_files

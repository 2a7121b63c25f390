#include "stepwright/runtime/launch/executable.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "stepwright/core/error.h"
#include "stepwright/core/utf8.h"
#include "stepwright/model/layer_class_index.h"
#include "stepwright/plan/canonical.h"
#include "stepwright/schedule/kinds.h"

namespace stepwright::runtime {
namespace {

void refuse(bool asked, std::string_view field, std::string_view value, std::string_view instead) {
  if (!asked) return;
  fail_unsupported(fmt::format("{}: {} is planned and predicted but not executed yet; {}", field,
                               value, instead));
}

/// Refuses variants of decoder layers that the executor does not run.
void check_variants(const model::ModelArchitecture& model) {
  refuse(model.activation == model::ActivationFunction::kXielu, "model.activation", "xielu",
         "executed are the others");
  refuse(!model.beyond.empty(), "model.beyond", one_line_printable_text(model.beyond),
         "leave it out to train without it");
  refuse(model.gate_bias, "model.gate_bias", "true", "train executes gates without biases");
  refuse(
      model.state_mixer && model.state_mixer->selection_normed && model.norm != model::Norm::kRms,
      "model.state_mixer.selection_normed", "layernorm", "executed is rmsnorm");
}

void check_model(const model::ModelArchitecture& model) {
  if (model.rotary_scaling) {
    const model::RotaryScaling& scaling = *model.rotary_scaling;
    refuse(scaling.kind == model::RotaryScalingKind::kOther, "model.rotary_scaling",
           name_of(model::kRotaryScalingNames, scaling.kind), "executed are the others");
    const bool listed = !scaling.short_factors.empty() && !scaling.long_factors.empty();
    refuse(scaling.kind == model::RotaryScalingKind::kLongRope && !listed, "model.rotary_scaling",
           "longrope without factors", "give short_factors and long_factors");
  }
  refuse(model.encodes_images(), "model.encoder", "an encoder of images",
         "set batch.images to 0 to train only the language model");
  check_variants(model);
}

/// Refuses adapters and frozen parameters that the executor does not run.
void check_trained(const model::ModelArchitecture& model) {
  if (!model.adapters) return;
  refuse(model.adapters->quantised(), "adapters.base",
         name_of(model::kAdapterBaseTypeNames, model.adapters->base), "leave it out");
  const bool of_mlp = model.adapters->has(model::LoraTargetProduct::kGate) ||
                      model.adapters->has(model::LoraTargetProduct::kUp) ||
                      model.adapters->has(model::LoraTargetProduct::kFc2);
  refuse(of_mlp && model.experts && model.adapters->dropout > 0, "adapters.dropout",
         "of adapters beside experts", "leave it out");
}

void check_kernels(const plan::FrameworkKernels& kernels) {
  refuse(kernels.attention == cluster::AttentionKernel::kUnfused, "kernels.attention", "unfused",
         "name a fused kernel");
  refuse(!kernels.fused_norm, "kernels.fused_norm", "false", "leave it true");
  refuse(!kernels.fused_accumulation, "kernels.fused_accumulation", "false", "leave it true");
  refuse(kernels.gathered_logits, "kernels.gathered_logits", "true", "leave it false");
  refuse(kernels.plain_loss && !kernels.fused_loss(), "kernels.plain_loss", "true",
         "leave it false");
  refuse(kernels.cross_entropy == plan::CrossEntropyKernel::kNative ||
             kernels.cross_entropy == plan::CrossEntropyKernel::kTe,
         "kernels.cross_entropy", name_of(plan::kCrossEntropyNames, kernels.cross_entropy),
         "say compiled or unfused");
  refuse(kernels.document_loss, "kernels.document_loss", "true", "leave it false");
  refuse(!kernels.scattered_gradients, "kernels.scattered_gradients", "false", "leave it true");
  refuse(kernels.refresh_by_tensor, "kernels.refresh_by_tensor", "true", "leave it false");
  refuse(kernels.wide_gradients, "kernels.wide_gradients", "true", "leave it false");
  refuse(kernels.masters != plan::MasterWeights::kBeside, "kernels.masters",
         name_of(plan::kMasterWeightsNames, kernels.masters), "leave it beside");
  refuse(!kernels.fused_gate, "kernels.fused_gate", "false", "leave it true");
  refuse(!kernels.fused_qkv, "kernels.fused_qkv", "false", "leave it true");
  refuse(kernels.narrow_attention, "kernels.narrow_attention", "true", "leave it false");
  refuse(kernels.scattered_pipeline, "kernels.scattered_pipeline", "true", "leave it false");
}

void check_heads(const plan::PlannedJob& planned) {
  const model::ModelArchitecture& model = planned.job.model;
  refuse(!model.latent && planned.plan.parallel.tensor > model.kv_heads, "parallel.tensor",
         std::to_string(planned.plan.parallel.tensor),
         fmt::format("train executes divisors of the {} key-value heads", model.kv_heads));
}

void check_loss(const plan::Job& job) {
  refuse(job.kernels.loss_keeps == plan::LossSavedTensors::kTiles, "kernels.loss_keeps", "tiles",
         "say sums");
  refuse(job.kernels.loss_keeps == plan::LossSavedTensors::kAllLogits, "kernels.loss_keeps",
         "all_logits", "say logits");
  const bool held = job.kernels.loss_keeps == plan::LossSavedTensors::kGradients;
  refuse(held && job.model.head_bias, "kernels.loss_keeps", "gradients beside a bias of the head",
         "say logits or rows");
}

void check_recompute(const plan::ActivationRecomputation& recompute) {
  plan::each_setting(recompute, [](const plan::ActivationRecomputation& setting) {
    refuse(setting.modules.has(plan::RecomputeModule::kPerOperator), "recompute", "per-operator",
           "train executes none, selective, full, every and the other modules");
  });
}

/// Refuses optimizers, and combinations with schedules and shardings, that are not executed.
void check_optimizer(const plan::Job& job, const plan::Plan& plan) {
  const bool spread = schedule::traits_of(plan.schedule.kind).spreads_vocabulary;
  refuse(job.optimizer == plan::Optimizer::kAdafactor && spread, "optimizer",
         "adafactor of tables that pipeline positions share", "take another schedule");
  if (job.optimizer != plan::Optimizer::kMuon) return;
  const plan::Sharding sharding = plan::canonical_sharding(job, plan);
  const bool owned = sharding.optimizer != plan::StateShardingScope::kNone &&
                     sharding.gradients == plan::StateShardingScope::kNone;
  const bool in_blocks = plan.overlap.gradients || plan.overlap.parameters;
  refuse(owned && in_blocks, "optimizer",
         "muon by owner with gradients or parameters that travel block by block",
         "set overlap: {gradients: false, parameters: false}");
}

}  // namespace

void check_runtime_supports_plan(const plan::PlannedJob& planned) {
  const plan::Job& job = planned.job;
  check_recompute(planned.plan.recompute);
  check_model(job.model);
  check_trained(job.model);
  check_kernels(job.kernels);
  check_heads(planned);
  check_loss(job);
  check_optimizer(job, planned.plan);
  const bool runs_on =
      model::has_recurrent_mixer(job.model) || job.model.extra_predicted_tokens() > 0;
  refuse(job.documents && runs_on, "batch.lengths", "documents",
         "train executes layers with attention, of models without multi-token layers");
  refuse(job.dispatcher == plan::TokenDispatcher::kOncePerNode && planned.plan.parallel.expert > 1,
         "dispatcher", "once_per_node", "train executes alltoall and allgather");
  refuse(job.capacity_factor > 0, "capacity_factor", fmt::format("{:.6g}", job.capacity_factor),
         "leave it out");
  refuse(job.kernels.expert_weights == plan::RouterWeightPlacement::kBefore && job.model.experts &&
             job.model.experts->bias,
         "kernels.expert_weights", "before, beside biases of experts", "say after");
  const plan::ParallelismDegrees& degrees = planned.plan.parallel;
  refuse(planned.plan.offload.parameters && degrees.data * degrees.context == 1,
         "offload.parameters", "true of one data rank", "take several ranks");
  const auto chunks = [](const auto& each) { return each.first.chunked; };
  refuse(job.documents && job.documents->packing.pad_to == packing::PaddingTarget::kNone,
         "batch.packing.pad_to", "none", "say longest");
  refuse(job.documents && model::has_recurrent_mixer(job.model), "batch.lengths",
         "documents with a mixer that carries a state", "leave out one of them");
  const auto& scaling = job.model.rotary_scaling;
  const bool by_length = scaling && (scaling->kind == model::RotaryScalingKind::kDynamic ||
                                     scaling->kind == model::RotaryScalingKind::kLongRope);
  refuse(job.documents && by_length, "batch.lengths",
         "documents with rotary scaling by the length of a sequence", "leave out one of them");
  refuse(job.documents && std::ranges::any_of(job.model.layer_counts_by_class(), chunks),
         "batch.lengths", "documents in attention by chunks", "leave out one of them");
  const bool wide = job.precision == DType::kFp64 || job.precision == DType::kFp32 ||
                    job.precision == DType::kBf16;
  refuse(!wide, "precision", name_of(plan::kPrecisionNames, job.precision),
         "train executes fp64, fp32 and bf16");
}

}  // namespace stepwright::runtime

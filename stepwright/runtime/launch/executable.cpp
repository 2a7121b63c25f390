#include "stepwright/runtime/launch/executable.h"

#include <fmt/format.h>

#include "stepwright/core/error.h"
#include "stepwright/model/layer_order.h"

namespace stepwright {
namespace {

void refuse(bool asked, std::string_view field, std::string_view value, std::string_view instead) {
  if (!asked) return;
  fail_unsupported(fmt::format("{}: {} is planned and predicted but not executed yet; {}", field,
                               value, instead));
}

/// What a decoder may have beyond the blocks that are executed.
void check_variants(const Architecture& model) {
  refuse(carries_state(model) || has_mixer(model, Mixer::kNone), "model.layers", "another mixer",
         "executed is attention");
  refuse(has_feed_forward(model, FeedForward::kNone), "model.layers", "feed_forward: none",
         "executed are dense and experts");
  refuse(model.qk_norm != QkNorm::kNone && model.qk_norm != QkNorm::kHead, "model.qk_norm",
         name_of(kQkNormNames, model.qk_norm), "executed are none and head");
  const struct {
    bool asked;
    std::string_view field;
  } variants[] = {{model.qk_norm_bias, "qk_norm_bias"},
                  {model.attention_gate, "attention_gate"},
                  {model.sinks, "sinks"},
                  {!model.norm_weight, "norm_weight"},
                  {model.norm_unit_offset, "norm_unit_offset"},
                  {model.norm_placement != NormPlacement::kBefore, "norm_placement"},
                  {model.attention_scale != 0, "attention_scale"},
                  {model.attention_cap != 0, "attention_cap"},
                  {model.logit_cap != 0, "logit_cap"},
                  {model.logit_scale != 1, "logit_scale"},
                  {model.embedding_scale != 1, "embedding_scale"},
                  {model.residual_scale != 1, "residual_scale"},
                  {model.experts && model.experts->bias, "experts.bias"},
                  {model.experts && model.experts->router_bias, "experts.router_bias"},
                  {model.experts && model.experts->scoring != Scoring::kSoftmax, "experts.scoring"},
                  {model.experts && model.experts->groups > 1, "experts.groups"},
                  {model.experts && model.experts->scale != 1, "experts.scale"}};
  for (const auto& variant : variants) {
    refuse(variant.asked, fmt::format("model.{}", variant.field), "this", "leave it out");
  }
  for (const LayerClass& layer : layer_order(model).classes) {
    refuse(layer.chunked, "model.layers.chunked", "true", "give windows");
    refuse(!layer.rotated, "model.layers.rotated", "false", "rotate all layers");
    refuse(layer.ffn != 0, "model.layers.ffn", "a width of its own", "give all the model's");
  }
}

void check_model(const Architecture& model) {
  refuse(model.latent.has_value(), "model.latent", "latent attention", "train without it");
  const bool added = model.position == Position::kAlibi || model.position == Position::kSinusoidal;
  refuse(added, "model.position", name_of(kPositionNames, model.position),
         "executed are rope, learned and none");
  refuse(model.window_rotary_base != 0, "model.window_rotary_base", "a base of its own",
         "executed is one base for all layers");
  if (model.rotary_scaling) {
    const RotaryScalingKind kind = model.rotary_scaling->kind;
    const bool known = kind == RotaryScalingKind::kLinear || kind == RotaryScalingKind::kLlama3;
    refuse(!known, "model.rotary_scaling", name_of(kRotaryScalingNames, kind),
           "executed are linear and llama3");
  }
  check_variants(model);
  refuse(model.experts && model.experts->correction_bias, "model.experts.correction_bias", "true",
         "leave it false: gates take a softmax");
}

void check_kernels(const Kernels& kernels) {
  refuse(kernels.attention == AttentionKernel::kUnfused, "kernels.attention", "unfused",
         "name a fused kernel");
  refuse(!kernels.fused_norm, "kernels.fused_norm", "false", "leave it true");
  refuse(!kernels.fused_accumulation, "kernels.fused_accumulation", "false", "leave it true");
  refuse(kernels.gathered_logits, "kernels.gathered_logits", "true", "leave it false");
  refuse(!kernels.scattered_gradients, "kernels.scattered_gradients", "false", "leave it true");
  refuse(kernels.wide_gradients, "kernels.wide_gradients", "true", "leave it false");
  refuse(!kernels.fused_gate, "kernels.fused_gate", "false", "leave it true");
  refuse(kernels.scattered_pipeline, "kernels.scattered_pipeline", "true", "leave it false");
}

}  // namespace

void check_executable(const PlannedJob& planned) {
  const Job& job = planned.job;
  check_model(job.model);
  check_kernels(job.kernels);
  refuse(job.dispatcher == Dispatcher::kOncePerNode && planned.plan.parallel.expert > 1,
         "dispatcher", "once_per_node", "executed are alltoall and allgather");
  const bool wide = job.precision == DType::kFp64 || job.precision == DType::kFp32 ||
                    job.precision == DType::kBf16;
  refuse(!wide, "precision", name_of(kPrecisionNames, job.precision),
         "executed are fp64, fp32 and bf16");
}

}  // namespace stepwright

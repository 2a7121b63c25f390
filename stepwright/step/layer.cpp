#include "stepwright/step/layer.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "stepwright/step/attention_core.h"
#include "stepwright/step/blocks.h"
#include "stepwright/step/dispatch.h"
#include "stepwright/step/host_copies.h"
#include "stepwright/step/kept_inside.h"
#include "stepwright/step/prune.h"
#include "stepwright/step/unit.h"

namespace stepwright::step {
namespace {

constexpr NormTensorNames kAttentionNorm{
    KeptTensorRole::kAttentionInput, KeptTensorRole::kAttentionStatistics,
    LayerPart::kAttentionNorm, KeptTensorRole::kAttentionNormCopies};
constexpr NormTensorNames kMlpNorm{KeptTensorRole::kMlpInput, KeptTensorRole::kMlpStatistics,
                                   LayerPart::kMlpNorm, KeptTensorRole::kMlpNormCopies};

constexpr NormTensorNames kAttentionResultNorm{
    KeptTensorRole::kAttentionResult, KeptTensorRole::kAttentionResultStatistics,
    LayerPart::kAttentionResultNorm, KeptTensorRole::kAttentionResultCopies};
constexpr NormTensorNames kMlpResultNorm{
    KeptTensorRole::kMlpResult, KeptTensorRole::kMlpResultStatistics, LayerPart::kMlpResultNorm,
    KeptTensorRole::kMlpResultCopies};

/// Writes the norm before a branch and returns its rows; `x` itself if the model norms only
/// results.
TensorId normed(ModelBlockBuildContext& e, TensorId x, const NormTensorNames& role,
                const model::LayerClass& layer) {
  return e.s.model->has_norms_before_attention_and_mlp(layer)
             ? norm(e, x, {e.s.rows, e.s.model->hidden}, role)
             : x;
}

/// Writes the backward of `normed`; `residual` is the gradient that bypasses the branch.
TensorId normed_backward(ModelBlockBuildContext& e, TensorId dy, const NormTensorNames& role,
                         TensorId residual, const model::LayerClass& layer) {
  const std::int64_t h = e.s.model->hidden;
  if (e.s.model->has_norms_before_attention_and_mlp(layer))
    return append_norm_backward(e, dy, {e.s.rows, h}, role, residual);
  const TensorId sum = create_activation_tensor(e, "gradient", e.s.rows, h);
  e.out.add(computation(e, OperatorKind::kAdd, Phase::kDataGradient, role.part,
                        {.rows = e.s.rows, .columns = h}),
            {dy, residual}, {sum});
  return sum;
}

/// Writes the norm on a branch's result, if the model has one; returns what is added to the
/// residual stream.
TensorId result_of(ModelBlockBuildContext& e, TensorId y, const NormTensorNames& role,
                   const model::LayerClass& layer) {
  return e.s.model->norms_results(layer) ? norm(e, y, {e.s.rows, e.s.model->hidden}, role) : y;
}

TensorId result_backward(ModelBlockBuildContext& e, TensorId dy, const NormTensorNames& role,
                         const model::LayerClass& layer) {
  return e.s.model->norms_results(layer)
             ? append_norm_backward(e, dy, {e.s.rows, e.s.model->hidden}, role)
             : dy;
}

TensorId leave(ModelBlockBuildContext& e, TensorId partial, LayerPart part) {
  return exit_tensor_parallel_region(e, partial, {e.s.model->hidden, part, e.forward});
}

/// The last product of a mixer.
LayerPart output_part(const model::LayerClass& layer) {
  return layer.attends() ? LayerPart::kAttentionOutput : LayerPart::kMixerOut;
}

/// Writes the sum of the results of two branches.
TensorId sum_of(ModelBlockBuildContext& e, std::array<TensorId, 2> branches, std::int64_t rows,
                Phase phase) {
  const std::int64_t h = e.s.model->hidden;
  const bool forward = phase == e.forward;
  const TensorId sum = create_activation_tensor(e, forward ? "branches" : "gradient", rows, h);
  e.out.add(
      computation(e, OperatorKind::kAdd, phase, LayerPart::kBranches, {.rows = rows, .columns = h}),
      {branches[0], branches[1]}, {sum});
  return sum;
}

/// Write a mixer, or two parallel mixers, from normed rows to the partial result, and the backward.
TensorId mixer_block(ModelBlockBuildContext& e, TensorId normed, const model::LayerClass& layer) {
  if (!layer.attends()) return append_recurrent_mixer_block(e, normed, layer.mixer);
  const TensorId attended = append_attention_block(e, normed, layer);
  if (layer.beside == model::TokenMixer::kNone) return attended;
  return sum_of(e, {attended, append_recurrent_mixer_block(e, normed, layer.beside)}, e.s.tokens,
                e.forward);
}

TensorId mixer_block_backward(ModelBlockBuildContext& e, TensorId dy,
                              const model::LayerClass& layer) {
  if (!layer.attends()) return append_state_mixer_block_backward(e, dy, layer.mixer);
  if (layer.beside == model::TokenMixer::kNone)
    return append_attention_block_backward(e, dy, layer);
  const TensorId d_first = append_state_mixer_block_backward(e, dy, layer.beside);
  return sum_of(e, {append_attention_block_backward(e, dy, layer), d_first}, e.s.rows,
                Phase::kDataGradient);
}

TensorId mixer_branch(ModelBlockBuildContext& e, TensorId x, const model::LayerClass& layer) {
  if (layer.mixer == model::TokenMixer::kNone) return x;
  const TensorId mixed = mixer_block(e, normed(e, x, kAttentionNorm, layer), layer);
  const TensorId result =
      result_of(e, leave(e, mixed, output_part(layer)), kAttentionResultNorm, layer);
  return append_residual_addition(e, x, result, KeptTensorRole::kAttentionMask);
}

TensorId mixer_branch_backward(ModelBlockBuildContext& e, TensorId dy,
                               const model::LayerClass& layer) {
  if (layer.mixer == model::TokenMixer::kNone) return dy;
  const TensorId d_result =
      result_backward(e, append_residual_addition_backward(e, dy, KeptTensorRole::kAttentionMask),
                      kAttentionResultNorm, layer);
  const TensorId d_mixed = enter_tensor_parallel_region(
      e, d_result, {e.s.model->hidden, output_part(layer), Phase::kDataGradient});
  return normed_backward(e, mixer_block_backward(e, d_mixed, layer), kAttentionNorm, dy, layer);
}

TensorId feed_forward_branch(ModelBlockBuildContext& e, TensorId x,
                             const model::LayerClass& layer) {
  if (layer.feed_forward == model::FeedForward::kNone) return x;
  const TensorId rows = normed(e, x, kMlpNorm, layer);
  if (layer.has_experts()) {
    const TensorId result = result_of(e, append_experts_block(e, rows), kMlpResultNorm, layer);
    return append_residual_addition(e, x, result, KeptTensorRole::kMlpMask);
  }
  e.kept.set(KeptTensorRole::kMlpEntry, rows);
  const TensorId partial = append_mlp_block(e, rows, dense_mlp(*e.s.model, layer));
  const TensorId y = leave(e, partial, LayerPart::kFc2);
  // Recomputation by operator keeps every second product and all sums over ranks; a compiler sees
  // that no backward reads the last of them.
  if (e.splits_gate && !e.s.kernels.fused_activation) {
    e.kept.set(KeptTensorRole::kFc2Out, partial);
    if (y != partial) e.kept.set(KeptTensorRole::kFc2Rows, y);
  }
  record_module_end_tensor(e, plan::RecomputeModule::kMlp, y);
  return append_residual_addition(e, x, result_of(e, y, kMlpResultNorm, layer),
                                  KeptTensorRole::kMlpMask);
}

TensorId feed_forward_branch_backward(ModelBlockBuildContext& e, TensorId dy,
                                      const model::LayerClass& layer) {
  if (layer.feed_forward == model::FeedForward::kNone) return dy;
  const TensorParallelRegionCrossing crossing{e.s.model->hidden, LayerPart::kFc2,
                                              Phase::kDataGradient};
  const TensorId d_result = result_backward(
      e, append_residual_addition_backward(e, dy, KeptTensorRole::kMlpMask), kMlpResultNorm, layer);
  const TensorId d_rows =
      layer.has_experts()
          ? append_experts_block_backward(e, d_result)
          : append_mlp_block_backward(e, enter_tensor_parallel_region(e, d_result, crossing),
                                      dense_mlp(*e.s.model, layer));
  return normed_backward(e, d_rows, kMlpNorm, dy, layer);
}

/// Writes a layer whose branches both read its input and share one reduction (GPT-NeoX, GPT-J).
/// Experts are reduced on their own, as their results are complete (Command-A).
TensorId parallel_forward(ModelBlockBuildContext& e, TensorId x, const model::LayerClass& layer) {
  const TensorId first = normed(e, x, kAttentionNorm, layer);
  const TensorId second = e.s.model->shared_input_norm ? first : normed(e, x, kMlpNorm, layer);
  const TensorId attended = mixer_block(e, first, layer);
  if (layer.has_experts()) {
    const TensorId mixed = leave(e, attended, output_part(layer));
    const TensorId both = sum_of(e, {mixed, append_experts_block(e, second)}, e.s.rows, e.forward);
    return append_residual_addition(e, x, both, KeptTensorRole::kMlpMask);
  }
  e.kept.set(KeptTensorRole::kMlpEntry, second);
  const TensorId result = append_mlp_block(e, second, dense_mlp(*e.s.model, layer));
  record_module_end_tensor(e, plan::RecomputeModule::kMlp, result);
  const TensorId both = sum_of(e, {attended, result}, e.s.tokens, e.forward);
  return append_residual_addition(e, x, leave(e, both, LayerPart::kBranches),
                                  KeptTensorRole::kMlpMask);
}

TensorId parallel_backward(ModelBlockBuildContext& e, TensorId dy, const model::LayerClass& layer) {
  const std::int64_t h = e.s.model->hidden;
  const TensorId d_both = append_residual_addition_backward(e, dy, KeptTensorRole::kMlpMask);
  const TensorId gathered =
      enter_tensor_parallel_region(e, d_both, {h, LayerPart::kBranches, Phase::kDataGradient});
  const TensorId d_second =
      layer.has_experts() ? append_experts_block_backward(e, d_both)
                          : append_mlp_block_backward(e, gathered, dense_mlp(*e.s.model, layer));
  const TensorId d_first = mixer_block_backward(e, gathered, layer);
  if (e.s.model->shared_input_norm) {
    const TensorId sum = sum_of(e, {d_first, d_second}, e.s.rows, Phase::kDataGradient);
    return normed_backward(e, sum, kAttentionNorm, dy, layer);
  }
  const TensorId d_x = normed_backward(e, d_second, kMlpNorm, dy, layer);
  return normed_backward(e, d_first, kAttentionNorm, d_x, layer);
}

bool is_parallel(const model::ModelArchitecture& model, const model::LayerClass& layer) {
  return model.parallel_residual && layer.mixer != model::TokenMixer::kNone &&
         layer.feed_forward != model::FeedForward::kNone;
}

TensorId layer_forward(ModelBlockBuildContext& e, TensorId x, const model::LayerClass& layer) {
  if (is_parallel(*e.s.model, layer)) return parallel_forward(e, x, layer);
  return feed_forward_branch(e, mixer_branch(e, x, layer), layer);
}

TensorId layer_backward(ModelBlockBuildContext& e, TensorId dy, const model::LayerClass& layer) {
  if (is_parallel(*e.s.model, layer)) return parallel_backward(e, dy, layer);
  return mixer_branch_backward(e, feed_forward_branch_backward(e, dy, layer), layer);
}

/// The role under which a layer's input is kept.
KeptTensorRole input_role(const model::LayerClass& layer) {
  return layer.mixer == model::TokenMixer::kNone ? KeptTensorRole::kMlpInput
                                                 : KeptTensorRole::kAttentionInput;
}

/// Modules that frameworks recompute to their end (a checkpoint around the module). For other
/// modules they discard the output and recompute only that (Megatron-Core,
/// `CheckpointWithoutOutput`).
constexpr plan::RecomputeModule kRunsWhole[] = {
    plan::RecomputeModule::kCoreAttention, plan::RecomputeModule::kMlp, plan::RecomputeModule::kMoe,
    plan::RecomputeModule::kSharedExperts};

}  // namespace

TensorId LayerOperatorWriter::forward(ModelBlockBuildContext& e, TensorId x) {
  e.ends = &ends_;
  e.originals = &originals_;
  e.splits_gate = recompute_.modules.has(plan::RecomputeModule::kPerOperator);
  reduces_ = e.s.tensor_parallel();
  exchanges_ =
      sends_tokens_to_other_ranks(e.s) && e.s.dispatcher != plan::TokenDispatcher::kAllGather;
  return layer_forward(e, x, layer_);
}

/// Forgets results that are recomputed locally: the output projection's result unless it is a sum
/// over ranks, and the copies of rows for experts and the experts' results unless an exchange sends
/// them. The result of an exchange is kept, the result of a gather is not (torchtitan 0.3.0
/// torchtitan/distributed/activation_checkpoint.py, whose list has all_to_all_single and
/// reduce_scatter_tensor).
void LayerOperatorWriter::forget_local_results(KeptTensors& kept) const {
  if (layer_.mixer != model::TokenMixer::kNone && !reduces_) kept.forget(KeptTensorRole::kMlpInput);
  if (!layer_.has_experts() || exchanges_) return;
  kept.forget(KeptTensorRole::kExpertInput);
  kept.forget(KeptTensorRole::kCombined);
}

namespace {

/// Forgets the inputs of norms that keep fp32 copies of them: if a backward recomputes nothing, no
/// other operator reads these inputs.
void forget_copied_inputs(KeptTensors& kept) {
  for (const NormTensorNames& role :
       {kAttentionNorm, kMlpNorm, kAttentionResultNorm, kMlpResultNorm}) {
    if (kept.has(role.copies)) kept.forget(role.input);
  }
}

}  // namespace

KeptTensors LayerOperatorWriter::tensors_kept_after_forward(KeptTensors& all, TensorId x) const {
  KeptTensors kept = all;
  if (recompute_.whole) {
    kept = KeptTensors{};
    kept.set(input_role(layer_), x);
    return kept;
  }
  // Ulysses keeps queries, keys and values after the exchange, unless the backward exchanges them
  // again.
  if (kept.has(KeptTensorRole::kHeadsQkv) &&
      !recompute_.modules.has(plan::RecomputeModule::kCoreAttention)) {
    kept.forget(KeptTensorRole::kQkv);
  }
  // Only an MLP that is recomputed needs its ungathered input rows instead of the gathered ones.
  if (!recompute_.modules.has(plan::RecomputeModule::kMlp)) {
    kept.forget(KeptTensorRole::kMlpEntry);
  } else if (kept.has(KeptTensorRole::kMlpEntry)) {
    kept.forget(KeptTensorRole::kMlpLinearInput);
  }
  for (const auto& [module, name] : plan::kModuleNames) {
    if (!recompute_.modules.has(module)) continue;
    const bool whole = std::ranges::find(kRunsWhole, module) != std::end(kRunsWhole);
    for (const KeptTensorRole role : tensors_kept_inside_module(module)) {
      kept.forget(role);
      // A product that is not recomputed gets its input recomputed, and keeps no narrow copy of it
      // (NVIDIA/Megatron-LM megatron/core/transformer/moe/experts.py, set_save_original_input).
      if (!whole && originals_.has(role)) all.set(role, originals_.get(role));
    }
  }
  // The product after a recomputed core needs only the narrow copy.
  if (kept.has(KeptTensorRole::kProjectionInput) &&
      recompute_.modules.has(plan::RecomputeModule::kCoreAttention)) {
    kept.forget(KeptTensorRole::kAttentionOut);
  }
  if (recompute_.modules.has(plan::RecomputeModule::kPerOperator)) forget_local_results(kept);
  if (recompute_.modules.empty()) forget_copied_inputs(kept);
  return kept;
}

TensorId LayerOperatorWriter::backward(ModelBlockBuildContext& b, TensorId dy,
                                       const Rematerialisation::RecomputationSource& source) const {
  if (recompute_.whole) {
    b.forward = Phase::kRecompute;
    const TensorId x = b.kept.get(input_role(layer_));
    layer_forward(b, x, layer_);
    b.forward = Phase::kForward;
    forget_copied_inputs(b.kept);
    b.kept.set(input_role(layer_), x);
  }
  Rematerialisation rematerialisation(source, b.kept, b.parameters);
  for (const plan::RecomputeModule module : kRunsWhole) {
    if (recompute_.modules.has(module))
      rematerialisation.recompute_whole_module(tensors_kept_inside_module(module),
                                               ends_[static_cast<std::size_t>(module)]);
  }
  b.rematerialisation = &rematerialisation;
  b.splits_gate = recompute_.modules.has(plan::RecomputeModule::kPerOperator);
  const TensorId dx = layer_backward(b, dy, layer_);
  b.rematerialisation = nullptr;
  return dx;
}

namespace {

/// Removes work that no gradient of a trained weight needs.
void leave_out(ModelBlockTemplatePair& pair, const model::LayerClass& layer,
               const plan::LayerRecompute& recompute) {
  if (layer.gradients != model::LayerGradientFlow::kAbove) {
    return remove_operators_of_unneeded_gradients(
        pair, layer.gradients == model::LayerGradientFlow::kThrough, recompute.whole);
  }
  pair.backward = OperatorTemplate{.name = pair.backward.name};
  pair.forward.saved.clear();
}

}  // namespace

ModelBlockTemplatePair build_layer_templates(const StepBuildSettings& s, model::LayerClass layer,
                                             const plan::LayerRecompute& recompute) {
  const std::vector<RankLocalParameter> parameters = local_layer_parameters(s, layer);
  LayerOperatorWriter writer(layer, recompute);
  ParameterizedBlockTemplate forward(s, "layer.forward", parameters);
  const TensorId x = forward.builder.add_input_tensor(residual_tensor(s, "residual"));
  KeptTensors all;
  ModelBlockBuildContext e{forward.builder, s, all, Phase::kForward, forward.parameters, -1};
  forward.builder.output(writer.forward(e, x));
  const KeptTensors kept = writer.tensors_kept_after_forward(all, x);
  const KeptTensors held = copy_kept_tensors_to_host(
      forward.builder, kept, s.offloaded.activations_kept_by_layer(recompute.whole));
  forward.builder.mark_tensors_kept_for_backward(held);

  ParameterizedBlockTemplate backward(s, "layer.backward", parameters);
  const TensorId dy = backward.builder.add_input_tensor(residual_tensor(s, "gradient"));
  KeptTensors restored = copy_kept_tensors_from_host(
      backward.builder, backward.builder.create_kept_tensors_in_backward(forward.builder, held));
  backward.create_block_gradient_tensor();
  ModelBlockBuildContext b{backward.builder,  s, restored, Phase::kForward, backward.parameters,
                           backward.gradients};
  backward.builder.output(writer.backward(b, dy, {forward.builder, all, kept, forward.parameters}));
  backward.output_block_gradient_tensor();
  ModelBlockTemplatePair pair{std::move(forward.builder.piece()),
                              std::move(backward.builder.piece())};
  if (s.model->has_frozen_weights()) leave_out(pair, layer, recompute);
  return pair;
}

}  // namespace stepwright::step

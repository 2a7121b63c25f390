#include "stepwright/step/layer.h"

#include "stepwright/step/attention_core.h"
#include "stepwright/step/blocks.h"
#include "stepwright/step/unit.h"

namespace stepwright {
namespace {

constexpr NormRole kAttentionNorm{Keep::kAttentionInput, Keep::kAttentionStatistics,
                                  LayerPart::kAttentionNorm, Keep::kAttentionNormCopies};
constexpr NormRole kMlpNorm{Keep::kMlpInput, Keep::kMlpStatistics, LayerPart::kMlpNorm,
                            Keep::kMlpNormCopies};

TensorId normed(Emit& e, TensorId x, const NormRole& role) {
  return norm(e, x, {e.s.rows, e.s.model->hidden}, role);
}

TensorId normed_backward(Emit& e, TensorId dy, const NormRole& role, TensorId residual) {
  return norm_backward(e, dy, {e.s.rows, e.s.model->hidden}, role, residual);
}

TensorId leave(Emit& e, TensorId partial, LayerPart part) {
  return leave_tensor(e, partial, {e.s.model->hidden, part, e.forward});
}

/// Attention and MLP one after the other, each with its residual.
TensorId serial_forward(Emit& e, TensorId x, LayerClass layer) {
  const Setting& s = e.s;
  const TensorId attended = attention_block(e, normed(e, x, kAttentionNorm), layer.window);
  const TensorId middle =
      residual_add(e, x, leave(e, attended, LayerPart::kAttentionOutput), Keep::kAttentionMask);
  const TensorId rows = normed(e, middle, kMlpNorm);
  if (layer.experts) return residual_add(e, middle, experts_block(e, rows), Keep::kMlpMask);
  e.kept.set(Keep::kMlpEntry, rows);
  const TensorId result = leave(e, mlp_block(e, rows, dense_mlp(*s.model)), LayerPart::kFc2);
  end_module(e, Module::kMlp, result);
  return residual_add(e, middle, result, Keep::kMlpMask);
}

TensorId serial_backward(Emit& e, TensorId dy, LayerClass layer) {
  const std::int64_t h = e.s.model->hidden;
  const Phase phase = Phase::kDataGradient;
  const TensorId d_result = residual_backward(e, dy, Keep::kMlpMask);
  const TensorId d_rows =
      layer.experts ? experts_block_backward(e, d_result)
                    : mlp_block_backward(e, enter_tensor(e, d_result, {h, LayerPart::kFc2, phase}),
                                         dense_mlp(*e.s.model));
  const TensorId d_middle = normed_backward(e, d_rows, kMlpNorm, dy);
  const TensorId d_attended = residual_backward(e, d_middle, Keep::kAttentionMask);
  const TensorId d_normed = attention_block_backward(
      e, enter_tensor(e, d_attended, {h, LayerPart::kAttentionOutput, phase}), layer.window);
  return normed_backward(e, d_normed, kAttentionNorm, d_middle);
}

/// Both branches read the layer's input and share one reduction (GPT-NeoX, GPT-J).
TensorId parallel_forward(Emit& e, TensorId x, LayerClass layer) {
  const TensorId first = normed(e, x, kAttentionNorm);
  const TensorId second = e.s.model->shared_input_norm ? first : normed(e, x, kMlpNorm);
  const TensorId attended = attention_block(e, first, layer.window);
  e.kept.set(Keep::kMlpEntry, second);
  const TensorId result = mlp_block(e, second, dense_mlp(*e.s.model));
  end_module(e, Module::kMlp, result);
  const TensorId both = activation(e, "branches", e.s.tokens, e.s.model->hidden);
  e.out.add(computation(e, OperatorKind::kAdd, e.forward, LayerPart::kBranches,
                        {.rows = e.s.tokens, .columns = e.s.model->hidden}),
            {attended, result}, {both});
  return residual_add(e, x, leave(e, both, LayerPart::kBranches), Keep::kMlpMask);
}

TensorId parallel_backward(Emit& e, TensorId dy, LayerClass layer) {
  const std::int64_t h = e.s.model->hidden;
  const TensorId d_both = residual_backward(e, dy, Keep::kMlpMask);
  const TensorId gathered =
      enter_tensor(e, d_both, {h, LayerPart::kBranches, Phase::kDataGradient});
  const TensorId d_second = mlp_block_backward(e, gathered, dense_mlp(*e.s.model));
  const TensorId d_first = attention_block_backward(e, gathered, layer.window);
  if (e.s.model->shared_input_norm) {
    const TensorId sum = activation(e, "gradient", e.s.rows, h);
    e.out.add(computation(e, OperatorKind::kAdd, Phase::kDataGradient, LayerPart::kBranches,
                          {.rows = e.s.rows, .columns = h}),
              {d_first, d_second}, {sum});
    return normed_backward(e, sum, kAttentionNorm, dy);
  }
  const TensorId d_x = normed_backward(e, d_second, kMlpNorm, dy);
  return normed_backward(e, d_first, kAttentionNorm, d_x);
}

TensorId layer_forward(Emit& e, TensorId x, LayerClass layer) {
  const bool parallel = e.s.model->parallel_residual && !layer.experts;
  return parallel ? parallel_forward(e, x, layer) : serial_forward(e, x, layer);
}

TensorId layer_backward(Emit& e, TensorId dy, LayerClass layer) {
  const bool parallel = e.s.model->parallel_residual && !layer.experts;
  return parallel ? parallel_backward(e, dy, layer) : serial_backward(e, dy, layer);
}

/// The kept tensors of a module for which a backward asks, but for the module's input.
std::vector<Keep> inside(Module module) {
  switch (module) {
    case Module::kCoreAttention:
      return {Keep::kHeadsQkv,      Keep::kHeadsOut,        Keep::kLogSumExp,
              Keep::kProbabilities, Keep::kProbabilityMask, Keep::kDropped};
    case Module::kMlp: return {Keep::kFc1Out, Keep::kActivationOut};
    case Module::kMoe:
      return {Keep::kRouterProbabilities, Keep::kRouterIndices,       Keep::kTokenCounts,
              Keep::kGatheredIndices,     Keep::kExpertWeights,       Keep::kExpertInput,
              Keep::kExpertFc1Out,        Keep::kExpertActivationOut, Keep::kCombined,
              Keep::kSharedLinearInput,   Keep::kSharedFc1Out,        Keep::kSharedActivationOut,
              Keep::kSharedOut,           Keep::kSharedGate};
    case Module::kMoeActivation: return {Keep::kExpertActivationOut};
    case Module::kNorm:
      return {Keep::kAttentionLinearInput,
              Keep::kKeyValueUp,
              Keep::kMlpLinearInput,
              Keep::kSharedLinearInput,
              Keep::kAttentionNormCopies,
              Keep::kMlpNormCopies,
              Keep::kMlpEntry};
    case Module::kLatentUp: return {Keep::kQkv, Keep::kHeadsQkv};
    case Module::kSharedExperts:
      return {Keep::kSharedLinearInput, Keep::kSharedFc1Out, Keep::kSharedActivationOut,
              Keep::kSharedOut, Keep::kSharedGate};
  }
  return {};
}

/// Modules that frameworks run again to their end (a checkpoint around the module); of the others
/// they throw results away and make them anew (Megatron-Core, `CheckpointWithoutOutput`).
constexpr Module kRunsWhole[] = {Module::kCoreAttention, Module::kMlp, Module::kMoe,
                                 Module::kSharedExperts};

/// The part of `all` that survives the forward under a recomputation.
Kept surviving(const Kept& all, TensorId x, const LayerRecompute& recompute) {
  Kept kept = all;
  if (recompute.whole) {
    kept = Kept{};
    kept.set(Keep::kAttentionInput, x);
    return kept;
  }
  // Ulysses keeps the exchanged layout, unless it exchanges again.
  if (kept.has(Keep::kHeadsQkv) && !recompute.modules.has(Module::kCoreAttention)) {
    kept.forget(Keep::kQkv);
  }
  // Only an MLP that runs again asks for the rows that enter it, instead of the gathered ones.
  if (!recompute.modules.has(Module::kMlp)) {
    kept.forget(Keep::kMlpEntry);
  } else if (kept.has(Keep::kMlpEntry)) {
    kept.forget(Keep::kMlpLinearInput);
  }
  for (const auto& [module, name] : kModuleNames) {
    if (!recompute.modules.has(module)) continue;
    for (const Keep role : inside(module)) kept.forget(role);
  }
  return kept;
}

}  // namespace

BlockPair build_layer(const Setting& s, LayerClass layer, const LayerRecompute& recompute) {
  const std::vector<LocalParameter> parameters = local_layer_parameters(s, layer);
  Unit forward(s, "layer.forward", parameters);
  const TensorId x = forward.builder.input(residual_tensor(s, "residual"));
  Kept all;
  ModuleEnds ends;
  Emit e{forward.builder, s, all, Phase::kForward, forward.parameters, -1, &ends};
  forward.builder.output(layer_forward(e, x, layer));
  const Kept kept = surviving(all, x, recompute);
  forward.builder.save(kept);

  Unit backward(s, "layer.backward", parameters);
  const TensorId dy = backward.builder.input(residual_tensor(s, "gradient"));
  Kept restored = backward.builder.restore(forward.builder, kept);
  backward.open_gradients();
  Emit b{backward.builder, s, restored, Phase::kRecompute, backward.parameters, backward.gradients};
  if (recompute.whole) layer_forward(b, restored.get(Keep::kAttentionInput), layer);
  b.forward = Phase::kForward;
  Rematerialisation rematerialisation({forward.builder, all, kept, forward.parameters}, restored,
                                      backward.parameters);
  for (const Module module : kRunsWhole) {
    if (recompute.modules.has(module))
      rematerialisation.run_whole(inside(module), ends[static_cast<std::size_t>(module)]);
  }
  b.rematerialisation = &rematerialisation;
  backward.builder.output(layer_backward(b, dy, layer));
  backward.close_gradients();
  return {std::move(forward.builder.piece()), std::move(backward.builder.piece())};
}

}  // namespace stepwright

#include "stepwright/step/blocks.h"
#include "stepwright/step/dispatch.h"
#include "stepwright/step/router.h"

namespace stepwright {
namespace {

Product expert_fc1(Emit& e) {
  const Setting& s = e.s;
  const std::int64_t wide = s.model->experts->ffn / s.expert_tensor * (s.model->gated ? 2 : 1);
  return {.rows = routed_rows(s).computed,
          .inner = s.model->routed_width(),
          .columns = wide,
          .part = LayerPart::kExpertFc1,
          .groups = s.model->experts->count / s.expert,
          .counts = kept(e, Keep::kTokenCounts)};
}

Product expert_fc2(Emit& e) {
  const Setting& s = e.s;
  return {.rows = routed_rows(s).computed,
          .inner = s.model->experts->ffn / s.expert_tensor,
          .columns = s.model->routed_width(),
          .part = LayerPart::kExpertFc2,
          .groups = s.model->experts->count / s.expert,
          .counts = kept(e, Keep::kTokenCounts)};
}

/// The ways into the width that routed experts work in, and out of it.
Product latent_in(const Setting& s) {
  return {.rows = s.rows,
          .inner = s.model->hidden,
          .columns = s.model->experts->latent,
          .part = LayerPart::kLatentIn};
}
Product latent_out(const Setting& s) {
  return {.rows = s.rows,
          .inner = s.model->experts->latent,
          .columns = s.model->hidden,
          .part = LayerPart::kLatentOut};
}

TensorId add_rows(Emit& e, TensorId x, TensorId y, Phase phase) {
  const TensorId z = activation(e, "sum", e.s.rows, e.s.model->hidden);
  e.out.add(computation(e, OperatorKind::kAdd, phase, LayerPart::kExpertSum,
                        {.rows = e.s.rows, .columns = e.s.model->hidden}),
            {x, y}, {z});
  return z;
}

/// The grouped products: rows of experts to their results.
TensorId grouped(Emit& e, TensorId rows) {
  e.kept.set(Keep::kExpertInput, rows);
  const TensorId wide = adapted_linear(e, rows, expert_fc1(e));
  e.kept.set(Keep::kExpertFc1Out, wide);
  const Product second = expert_fc2(e);
  const TensorId active =
      activate(e, wide, {second.rows, second.inner, true}, LayerPart::kExpertActivation);
  e.kept.set(Keep::kExpertActivationOut, active);
  return adapted_linear(e, active, second);
}

/// Backward of the grouped products: gradient of the dispatched rows.
TensorId grouped_backward(Emit& e, TensorId dy) {
  const Product first = expert_fc1(e);
  const Product second = expert_fc2(e);
  const TensorId d_active = linear_backward(e, dy, Keep::kExpertActivationOut, second);
  const TensorId d_wide =
      activate_backward(e, d_active, kept(e, Keep::kExpertFc1Out),
                        {second.rows, second.inner, true}, LayerPart::kExpertActivation);
  return linear_backward(e, d_wide, Keep::kExpertInput, first);
}

/// Gradients of the gate weights, each the product of a result and its gradient; where rows travel
/// also the weighted gradient of the results, in place.
Operator weights_gradient(const Emit& e, std::int64_t rows) {
  return {.kind = OperatorKind::kUnpermute,
          .phase = Phase::kDataGradient,
          .dtype = e.s.storage,
          .routed = travels(e.s),
          .shape = {.rows = rows, .columns = e.s.model->routed_width()},
          .part = LayerPart::kGateWeightsGradient,
          .purpose = Purpose::kGateGradient};
}

/// Gradient of the routed path: of its rows, and of the gate weights.
RoutedTensors routed_backward(Emit& e, TensorId dy) {
  const Phase phase = Phase::kDataGradient;
  const RoutedRows count = routed_rows(e.s);
  const Movement out{.phase = phase, .part = LayerPart::kCombine};
  const Movement in{.phase = phase, .part = LayerPart::kDispatch};
  const TensorId combined = kept(e, Keep::kCombined);
  const TensorId weights = kept(e, Keep::kExpertWeights);
  if (!travels(e.s)) {
    const TensorId d_weights =
        activation(e, "gradient", e.s.exact, e.s.rows, e.s.model->experts->top_k);
    e.out.add(weights_gradient(e, count.copies), {dy, combined, kept(e, Keep::kRouterIndices)},
              {d_weights});
    Movement weighted = out;
    weighted.weigh = weights;
    const TensorId d_rows = grouped_backward(e, dispatch(e, {.rows = dy}, weighted).rows);
    return {combine(e, {.rows = d_rows}, in).rows, d_weights};
  }
  const TensorId d_result = dispatch(e, {.rows = dy}, out).rows;
  const TensorId d_weights = weights_at_experts(e);
  e.out.add(weights_gradient(e, count.computed),
            {d_result, combined, places_at_experts(e), weights}, {d_result, d_weights});
  const TensorId returned = return_weights(e, d_weights, phase);
  return combine(e, {grouped_backward(e, d_result), returned}, in);
}

/// The same of the model's width.
RoutedTensors through_latent_backward(Emit& e, TensorId dy) {
  if (e.s.model->experts->latent == 0) return routed_backward(e, dy);
  const TensorId d_out = linear_backward(e, dy, Keep::kLatentOut, latent_out(e.s));
  const RoutedTensors d = routed_backward(e, d_out);
  return {linear_backward(e, d.rows, Keep::kMlpLinearInput, latent_in(e.s)), d.weights};
}

bool has_shared(const Setting& s) { return s.model->experts->shared_ffn > 0; }

/// One logit a row, of which the sigmoid is multiplied with the shared experts' output.
Product shared_gate(const Setting& s) {
  return {.rows = s.rows,
          .inner = s.model->hidden,
          .columns = 1,
          .part = LayerPart::kSharedGate,
          .wide = true};
}

Operator gating(const Emit& e, Phase phase) {
  return {.kind = OperatorKind::kActivation,
          .phase = phase,
          .dtype = e.s.storage,
          .shape = {.rows = e.s.rows, .columns = e.s.model->hidden},
          .part = LayerPart::kSharedGate,
          .purpose = Purpose::kSharedGate};
}

TensorId shared_experts(Emit& e, TensorId normed) {
  const TensorId partial = mlp_block(e, normed, shared_mlp(*e.s.model));
  const TensorId shared =
      leave_tensor(e, partial, {e.s.model->hidden, LayerPart::kSharedFc2, e.forward});
  end_module(e, Module::kSharedExperts, shared);
  if (!e.s.model->experts->shared_gate) return shared;
  const TensorId logits = linear(e, normed, shared_gate(e.s));
  const TensorId gated = activation(e, "shared", e.s.rows, e.s.model->hidden);
  e.out.add(gating(e, e.forward), {shared, logits}, {gated});
  e.kept.set(Keep::kSharedOut, shared);
  e.kept.set(Keep::kSharedGate, logits);
  end_module(e, Module::kSharedExperts, gated);
  return gated;
}

/// Gradient of the normed rows through the shared experts.
TensorId shared_backward(Emit& e, TensorId dy) {
  const Setting& s = e.s;
  const Phase phase = Phase::kDataGradient;
  TensorId d_shared = dy;
  TensorId d_logits = -1;
  if (s.model->experts->shared_gate) {
    d_shared = activation(e, "gradient", s.rows, s.model->hidden);
    d_logits = activation(e, "gradient", s.rows, 1);
    e.out.add(gating(e, phase), {dy, kept(e, Keep::kSharedOut), kept(e, Keep::kSharedGate)},
              {d_shared, d_logits});
  }
  const TensorId gathered =
      enter_tensor(e, d_shared, {s.model->hidden, LayerPart::kSharedFc2, phase});
  const TensorId dx = mlp_block_backward(e, gathered, shared_mlp(*s.model));
  if (d_logits < 0) return dx;
  const TensorId through_gate = linear_backward(e, d_logits, Keep::kMlpLinearInput, shared_gate(s));
  return add_rows(e, dx, through_gate, phase);
}

}  // namespace

TensorId experts_block(Emit& e, TensorId normed) {
  e.kept.set(Keep::kMlpLinearInput, normed);
  const Choice choice = route(e, normed);
  share_choice(e, choice.counts);
  const bool narrows = e.s.model->experts->latent > 0;
  RoutedTensors own{.rows = narrows ? linear(e, normed, latent_in(e.s)) : normed};
  if (travels(e.s)) own.weights = choice.weights;
  const RoutedTensors rows = dispatch(e, own, {.phase = e.forward, .part = LayerPart::kDispatch});
  const TensorId weights = travels(e.s) ? rows.weights : choice.weights;
  e.kept.set(Keep::kExpertWeights, weights);
  const TensorId result = grouped(e, rows.rows);
  e.kept.set(Keep::kCombined, result);
  TensorId out = combine(e, {.rows = result},
                         {.phase = e.forward, .part = LayerPart::kCombine, .weigh = weights})
                     .rows;
  if (narrows) {
    e.kept.set(Keep::kLatentOut, out);
    out = linear(e, out, latent_out(e.s));
  }
  const TensorId all =
      has_shared(e.s) ? add_rows(e, out, shared_experts(e, normed), e.forward) : out;
  end_module(e, Module::kMoe, all);
  return all;
}

TensorId experts_block_backward(Emit& e, TensorId dy) {
  const Phase phase = Phase::kDataGradient;
  const RoutedTensors through = through_latent_backward(e, dy);
  const TensorId dx = add_rows(e, through.rows, route_backward(e, through.weights), phase);
  if (!has_shared(e.s)) return dx;
  return add_rows(e, dx, shared_backward(e, dy), phase);
}

}  // namespace stepwright

#include "stepwright/step/blocks.h"
#include "stepwright/step/dispatch.h"
#include "stepwright/step/router.h"

namespace stepwright::step {
namespace {

MatrixProduct expert_fc1(ModelBlockBuildContext& e) {
  const StepBuildSettings& s = e.s;
  const std::int64_t wide = s.model->experts->ffn / s.expert_tensor * (s.model->gated ? 2 : 1);
  return {.rows = routed_rows(s).computed,
          .inner = s.model->expert_input_width(),
          .columns = wide,
          .part = LayerPart::kExpertFc1,
          .groups = s.model->experts->count / s.expert,
          .counts = tensor_kept_by_forward(e, KeptTensorRole::kTokenCounts)};
}

MatrixProduct expert_fc2(ModelBlockBuildContext& e) {
  const StepBuildSettings& s = e.s;
  return {.rows = routed_rows(s).computed,
          .inner = s.model->experts->ffn / s.expert_tensor,
          .columns = s.model->expert_input_width(),
          .part = LayerPart::kExpertFc2,
          .groups = s.model->experts->count / s.expert,
          .counts = tensor_kept_by_forward(e, KeptTensorRole::kTokenCounts)};
}

/// Projection from the hidden size to the routed experts' narrower width, and back.
MatrixProduct latent_in(const StepBuildSettings& s) {
  return {.rows = s.rows,
          .inner = s.model->hidden,
          .columns = s.model->experts->latent,
          .part = LayerPart::kLatentIn};
}
MatrixProduct latent_out(const StepBuildSettings& s) {
  return {.rows = s.rows,
          .inner = s.model->experts->latent,
          .columns = s.model->hidden,
          .part = LayerPart::kLatentOut};
}

TensorId add_rows(ModelBlockBuildContext& e, TensorId x, TensorId y, Phase phase) {
  const TensorId z = create_activation_tensor(e, "sum", e.s.rows, e.s.model->hidden);
  e.out.add(computation(e, OperatorKind::kAdd, phase, LayerPart::kExpertSum,
                        {.rows = e.s.rows, .columns = e.s.model->hidden}),
            {x, y}, {z});
  return z;
}

/// If the framework adds expert biases by unfused kernels: adds them to the results of the second
/// products, or writes the gradient of those results, of the biases and of the weights. Otherwise
/// products include the biases, and `rows` is returned unchanged.
TensorId through_biases(ModelBlockBuildContext& e, TensorId rows, Phase phase) {
  if (!e.s.expert_biases_apart) return rows;
  const MatrixProduct second = expert_fc2(e);
  // DeepEP and HybridEP accept gate weights only in fp32 (megatron/core/transformer/moe/
  // token_dispatcher.py); for other dispatchers routers output them in the type of their input.
  const bool exact = e.s.dispatcher == plan::TokenDispatcher::kOncePerNode;
  const TensorId biased = create_matrix_product_result(e, "biased", second, second.columns);
  e.out.add({.kind = OperatorKind::kAdd,
             .phase = phase,
             .dtype = exact ? e.s.exact : e.s.storage,
             .routed = true,
             .shape = {.rows = second.rows, .columns = second.columns, .batch = second.groups},
             .part = LayerPart::kExpertBias,
             .purpose = OperatorPurpose::kExpertBias},
            {rows}, {biased});
  return biased;
}

/// True if activations of experts are weighted, and not the results of their second products.
bool weighs_before(const StepBuildSettings& s) {
  return s.kernels.expert_weights == plan::RouterWeightPlacement::kBefore;
}

/// True if a separate kernel multiplies activations by their weights, so that the backward needs
/// the activations without weights too. Megatron-Core fuses the weights with gated activations
/// alone (NVIDIA/Megatron-LM core 0.16 megatron/core/transformer/moe/experts.py,
/// TEGroupedMLP.forward: bias_act_func); its `--use-fused-weighted-squared-relu` is not modelled.
bool keeps_unweighted(const StepBuildSettings& s) {
  return weighs_before(s) && !(s.model->gated && s.kernels.fused_activation);
}

/// True if unfused kernels multiply results by their weights, row by row.
bool weighs_rows(const StepBuildSettings& s) {
  return s.kernels.expert_weights == plan::RouterWeightPlacement::kAfterRows ||
         s.kernels.expert_weights == plan::RouterWeightPlacement::kAfterExact;
}

bool weighs_exactly(const StepBuildSettings& s) {
  return s.kernels.expert_weights == plan::RouterWeightPlacement::kAfterExact;
}

/// Creates a tensor for results of the second products, or their gradients, in the type in which
/// they are weighted.
TensorId weighted_rows(ModelBlockBuildContext& e) {
  return e.out.tensor({.name = "weighted",
                       .kind = TensorPurpose::kActivation,
                       .dtype = weighs_exactly(e.s) ? e.s.exact : e.s.storage,
                       .routed = true,
                       .extents = {routed_rows(e.s).computed, e.s.model->expert_input_width(), 1}});
}

/// Returns an operator that passes once over the experts' rows.
Operator rows_pass(const ModelBlockBuildContext& e, Phase phase) {
  return {.kind = OperatorKind::kPermute,
          .phase = phase,
          .dtype = e.s.storage,
          .routed = sends_tokens_to_other_ranks(e.s),
          .shape = {.rows = routed_rows(e.s).computed, .columns = e.s.model->expert_input_width()},
          .part = LayerPart::kCombine,
          .purpose = OperatorPurpose::kOwnCopies};
}

/// Multiplies results by their gate weights, row by row; keeps what the gradient of the weights
/// needs.
void weigh_rows(ModelBlockBuildContext& e, TensorId result, TensorId weights) {
  TensorId wide = result;
  if (weighs_exactly(e.s)) {
    wide = weighted_rows(e);
    e.out.add(rows_pass(e, e.forward), {result}, {wide});
  }
  e.out.add(rows_pass(e, e.forward), {wide, weights}, {weighted_rows(e)});
  e.kept.set(KeptTensorRole::kCombined, wide);
}

/// Returns the gate weights that multiply the experts' activations; empty if results are weighted
/// instead.
ActivationFunctionOperands row_weights(ModelBlockBuildContext& e) {
  if (!weighs_before(e.s)) return {};
  return {.places = sends_tokens_to_other_ranks(e.s)
                        ? places_at_experts(e)
                        : tensor_kept_by_forward(e, KeptTensorRole::kRouterIndices),
          .weights = tensor_kept_by_forward(e, KeptTensorRole::kExpertWeights)};
}

/// Creates a tensor for the gradient of gate weights, if rows stay on their rank.
TensorId weights_here(ModelBlockBuildContext& e) {
  return create_activation_tensor(e, "gradient", e.s.exact, e.s.rows, e.s.model->experts->top_k);
}

/// Creates a tensor as large as the experts' activations.
TensorId activated_rows(ModelBlockBuildContext& e, std::string_view name, const MatrixProduct& p) {
  return e.out.tensor(
      {.name = name, .dtype = e.s.storage, .routed = true, .extents = {p.rows, p.inner, 1}});
}

/// Writes the experts' grouped products, from rows to results.
TensorId grouped(ModelBlockBuildContext& e, TensorId rows) {
  const TensorId wide =
      append_matrix_product_with_lora(e, rows, expert_fc1(e), KeptTensorRole::kExpertInput);
  e.kept.set(KeptTensorRole::kExpertFc1Out, wide);
  const MatrixProduct second = expert_fc2(e);
  ActivationFunctionOperands beside = row_weights(e);
  if (mlp_keeps_activated_gates(e.s)) {
    beside.gate = activated_rows(e, "gate", second);
    e.kept.set(KeptTensorRole::kGate, beside.gate);
  }
  if (keeps_unweighted(e.s)) {
    beside.unweighted = activated_rows(e, "unweighted", second);
    e.kept.set(KeptTensorRole::kExpertUnweighted, beside.unweighted);
  }
  const TensorId active = append_activation_function(e, wide, {second.rows, second.inner, true},
                                                     LayerPart::kExpertActivation, beside);
  return through_biases(
      e, append_matrix_product_with_lora(e, active, second, KeptTensorRole::kExpertActivationOut),
      e.forward);
}

/// Writes the backward of the grouped products; returns the gradient of the dispatched rows, and of
/// the gate weights if activations are weighted.
ExpertExchangeTensors grouped_backward(ModelBlockBuildContext& e, TensorId dy) {
  const MatrixProduct first = expert_fc1(e);
  const MatrixProduct second = expert_fc2(e);
  const TensorId d_result = through_biases(e, dy, Phase::kDataGradient);
  const TensorId d_active =
      append_matrix_product_backward(e, d_result, KeptTensorRole::kExpertActivationOut, second);
  ActivationFunctionOperands beside = row_weights(e);
  if (beside.weights >= 0) {
    beside.d_weights =
        sends_tokens_to_other_ranks(e.s) ? create_gate_weights_at_experts(e) : weights_here(e);
  }
  if (mlp_keeps_activated_gates(e.s))
    beside.gate = tensor_kept_by_forward(e, KeptTensorRole::kGate);
  if (keeps_unweighted(e.s)) {
    beside.unweighted = tensor_kept_by_forward(e, KeptTensorRole::kExpertUnweighted);
  }
  const TensorId d_wide = append_activation_function_backward(
      e, d_active, tensor_kept_by_forward(e, KeptTensorRole::kExpertFc1Out),
      {second.rows, second.inner, true}, LayerPart::kExpertActivation, beside);
  return {append_matrix_product_backward(e, d_wide, KeptTensorRole::kExpertInput, first),
          beside.d_weights};
}

/// Returns the operator for the gradients of gate weights, each the dot product of a result and its
/// gradient. If rows are sent to other ranks, it also weights the gradient of the results in place.
Operator weights_gradient(const ModelBlockBuildContext& e, std::int64_t rows) {
  return {.kind = OperatorKind::kUnpermute,
          .phase = Phase::kDataGradient,
          .dtype = e.s.storage,
          .routed = sends_tokens_to_other_ranks(e.s),
          .shape = {.rows = rows, .columns = e.s.model->expert_input_width()},
          .part = LayerPart::kGateWeightsGradient,
          .purpose = OperatorPurpose::kGateGradient};
}

/// Product that gives one logit per row, whose sigmoid multiplies the shared experts' output.
MatrixProduct shared_gate(const StepBuildSettings& s) {
  return {.rows = s.rows,
          .inner = s.model->hidden,
          .columns = 1,
          .part = LayerPart::kSharedGate,
          .wide = true};
}

Operator gating(const ModelBlockBuildContext& e, Phase phase) {
  return {.kind = OperatorKind::kActivation,
          .phase = phase,
          .dtype = e.s.storage,
          .shape = {.rows = e.s.rows, .columns = e.s.model->hidden},
          .part = LayerPart::kSharedGate,
          .purpose = OperatorPurpose::kSharedGate};
}

/// Writes the shared experts so that they overlap the messages of routed ones: their first half
/// during the dispatch and their second half during the combine, or all of them after both.
class SharedExperts {
 public:
  explicit SharedExperts(ModelBlockBuildContext& e)
      : e_(e),
        there_(e.s.model->has_shared_experts()),
        beside_(there_ && sends_tokens_to_other_ranks(e.s) && e.s.overlap.shared_experts &&
                !e.s.overlap.expert),
        role_(there_ ? shared_mlp(*e.s.model) : MlpOperatorNames{}) {}
  SharedExperts(const SharedExperts&) = delete;
  SharedExperts& operator=(const SharedExperts&) = delete;

 protected:
  ModelBlockBuildContext& e_;
  const bool there_;
  const bool beside_;
  const MlpOperatorNames role_;
};

class SharedForward : private SharedExperts {
 public:
  SharedForward(ModelBlockBuildContext& e, TensorId normed) : SharedExperts(e), normed_(normed) {}
  void beside_dispatch() {
    if (beside_) active_ = append_mlp_first_half(e_, normed_, role_);
  }
  void beside_combine() {
    if (beside_) result_ = leave(append_mlp_second_half(e_, active_, role_));
  }
  /// Returns `routed` plus the result of the shared experts.
  TensorId added_to(TensorId routed) {
    if (!there_) return routed;
    if (!beside_) result_ = leave(append_mlp_block(e_, normed_, role_));
    return add_rows(e_, routed, result_, e_.forward);
  }

 private:
  TensorId leave(TensorId partial) {
    const TensorId shared = exit_tensor_parallel_region(
        e_, partial, {e_.s.model->hidden, LayerPart::kSharedFc2, e_.forward});
    record_module_end_tensor(e_, plan::RecomputeModule::kSharedExperts, shared);
    if (!e_.s.model->experts->shared_gate) return shared;
    const TensorId logits = append_matrix_product(e_, normed_, shared_gate(e_.s));
    const TensorId gated = create_activation_tensor(e_, "shared", e_.s.rows, e_.s.model->hidden);
    e_.out.add(gating(e_, e_.forward), {shared, logits}, {gated});
    e_.kept.set(KeptTensorRole::kSharedOut, shared);
    e_.kept.set(KeptTensorRole::kSharedGate, logits);
    record_module_end_tensor(e_, plan::RecomputeModule::kSharedExperts, gated);
    return gated;
  }

  TensorId normed_;
  TensorId active_ = -1;
  TensorId result_ = -1;
};

class SharedBackward : private SharedExperts {
 public:
  SharedBackward(ModelBlockBuildContext& e, TensorId dy) : SharedExperts(e), dy_(dy) {}
  void beside_dispatch() {
    if (beside_) d_active_ = mlp_down_backward(e_, enter(), role_);
  }
  void beside_combine() {
    if (beside_) dx_ = through_gate(mlp_up_backward(e_, d_active_, role_));
  }
  /// Returns `d_routed` plus the gradient of the normed rows through the shared experts.
  TensorId added_to(TensorId d_routed) {
    if (!there_) return d_routed;
    if (!beside_) dx_ = through_gate(append_mlp_block_backward(e_, enter(), role_));
    return add_rows(e_, d_routed, dx_, kPhase);
  }

 private:
  static constexpr Phase kPhase = Phase::kDataGradient;

  TensorId enter() {
    const StepBuildSettings& s = e_.s;
    TensorId d_shared = dy_;
    if (s.model->experts->shared_gate) {
      d_shared = create_activation_tensor(e_, "gradient", s.rows, s.model->hidden);
      d_logits_ = create_activation_tensor(e_, "gradient", s.rows, 1);
      e_.out.add(gating(e_, kPhase),
                 {dy_, tensor_kept_by_forward(e_, KeptTensorRole::kSharedOut),
                  tensor_kept_by_forward(e_, KeptTensorRole::kSharedGate)},
                 {d_shared, d_logits_});
    }
    return enter_tensor_parallel_region(e_, d_shared,
                                        {s.model->hidden, LayerPart::kSharedFc2, kPhase});
  }

  TensorId through_gate(TensorId dx) {
    if (d_logits_ < 0) return dx;
    const TensorId gate = append_matrix_product_backward(
        e_, d_logits_, KeptTensorRole::kMlpLinearInput, shared_gate(e_.s));
    return add_rows(e_, dx, gate, kPhase);
  }

  TensorId dy_;
  TensorId d_logits_ = -1;
  TensorId d_active_ = -1;
  TensorId dx_ = -1;
};

/// Writes the gradients of gate weights and results if unfused kernels multiply them: a copy of the
/// gradient for each row, from which one kernel computes the gradient of the result and another the
/// products whose sums are the gradients of the weights.
void weigh_rows_backward(ModelBlockBuildContext& e, TensorId dy, TensorId d_result,
                         TensorId d_weights) {
  const Phase phase = Phase::kDataGradient;
  const TensorId spread = weighted_rows(e);
  e.out.add(rows_pass(e, phase), {dy}, {spread, weighted_rows(e)});
  const TensorId weighted = weighs_exactly(e.s) ? weighted_rows(e) : d_result;
  e.out.add(weights_gradient(e, routed_rows(e.s).computed),
            {spread, tensor_kept_by_forward(e, KeptTensorRole::kCombined),
             tensor_kept_by_forward(e, KeptTensorRole::kExpertWeights)},
            {weighted_rows(e), weighted, d_weights});
  if (weighted != d_result) e.out.add(rows_pass(e, phase), {weighted}, {d_result});
}

/// Returns the gradients of the gate weights that multiply results, and of the weighted results.
ExpertExchangeTensors weigh_backward(ModelBlockBuildContext& e, TensorId d_result) {
  const TensorId combined = tensor_kept_by_forward(e, KeptTensorRole::kCombined);
  const TensorId d_weights = create_gate_weights_at_experts(e);
  if (weighs_rows(e.s)) {
    const MatrixProduct second = expert_fc2(e);
    const TensorId weighted = create_matrix_product_result(e, "gradient", second, second.columns);
    weigh_rows_backward(e, d_result, weighted, d_weights);
    return {weighted, d_weights};
  }
  e.out.add(weights_gradient(e, routed_rows(e.s).computed),
            {d_result, combined, places_at_experts(e),
             tensor_kept_by_forward(e, KeptTensorRole::kExpertWeights)},
            {d_result, d_weights});
  return {d_result, d_weights};
}

/// Writes the backward of the routed path if rows stay on their rank.
ExpertExchangeTensors local_backward(ModelBlockBuildContext& e, TensorId dy) {
  ExpertExchangeLabels out{.phase = Phase::kDataGradient, .part = LayerPart::kCombine};
  const ExpertExchangeLabels in{.phase = Phase::kDataGradient, .part = LayerPart::kDispatch};
  TensorId d_weights = -1;
  if (weighs_rows(e.s)) {
    const MatrixProduct second = expert_fc2(e);
    const TensorId d_result = create_matrix_product_result(e, "gradient", second, second.columns);
    d_weights = weights_here(e);
    weigh_rows_backward(e, dy, d_result, d_weights);
    const TensorId d_rows = grouped_backward(e, d_result).rows;
    return {append_expert_combine_wait(e, {.rows = d_rows}, in).rows, d_weights};
  }
  if (!weighs_before(e.s)) {
    d_weights = weights_here(e);
    e.out.add(weights_gradient(e, routed_rows(e.s).copies),
              {dy, tensor_kept_by_forward(e, KeptTensorRole::kCombined),
               tensor_kept_by_forward(e, KeptTensorRole::kRouterIndices)},
              {d_weights});
    out.weigh = tensor_kept_by_forward(e, KeptTensorRole::kExpertWeights);
  }
  const ExpertExchangeTensors d =
      grouped_backward(e, append_expert_dispatch_messages(e, {.rows = dy}, out).rows);
  return {append_expert_combine_wait(e, {.rows = d.rows}, in).rows,
          d.weights >= 0 ? d.weights : d_weights};
}

/// Writes the backward of the routed path; returns the gradients of its rows and of the gate
/// weights.
ExpertExchangeTensors routed_backward(ModelBlockBuildContext& e, TensorId dy,
                                      SharedBackward& shared) {
  if (!sends_tokens_to_other_ranks(e.s)) return local_backward(e, dy);
  const Phase phase = Phase::kDataGradient;
  const ExpertExchangeLabels out{.phase = phase, .part = LayerPart::kCombine};
  const ExpertExchangeLabels in{.phase = phase, .part = LayerPart::kDispatch};
  const ExpertExchangeTensors arrived = append_expert_dispatch_messages(e, {.rows = dy}, out);
  shared.beside_dispatch();
  ExpertExchangeTensors d = append_expert_dispatch_wait(e, arrived, {.rows = dy}, out);
  if (weighs_before(e.s)) {
    d = grouped_backward(e, d.rows);
    d.weights = append_gate_gradient_return_messages(e, d.weights, phase);
  } else {
    d = weigh_backward(e, d.rows);
    d.weights = append_gate_gradient_return_messages(e, d.weights, phase);
    d.rows = grouped_backward(e, d.rows).rows;
  }
  const ExpertExchangeTensors back = append_expert_combine_messages(e, d, in);
  shared.beside_combine();
  return append_expert_combine_wait(e, back, in);
}

/// Writes the backward of routed experts from and to the hidden size, through the latent
/// projections if there are any.
ExpertExchangeTensors through_latent_backward(ModelBlockBuildContext& e, TensorId dy,
                                              SharedBackward& shared) {
  if (e.s.model->experts->latent == 0) return routed_backward(e, dy, shared);
  const TensorId d_out =
      append_matrix_product_backward(e, dy, KeptTensorRole::kLatentOut, latent_out(e.s));
  const ExpertExchangeTensors d = routed_backward(e, d_out, shared);
  return {
      append_matrix_product_backward(e, d.rows, KeptTensorRole::kMlpLinearInput, latent_in(e.s)),
      d.weights};
}

}  // namespace

namespace {

/// Returns the rows that a router multiplies: `normed`, or a copy in fp32.
TensorId router_input(ModelBlockBuildContext& e, TensorId normed) {
  if (!e.s.exact_router) return normed;
  const TensorId exact =
      create_activation_tensor(e, "router.rows", e.s.exact, e.s.rows, e.s.model->hidden);
  e.out.add({.kind = OperatorKind::kUnpack,
             .phase = e.forward,
             .dtype = e.s.storage,
             .shape = {.rows = e.s.rows, .columns = e.s.model->hidden},
             .part = LayerPart::kRouter},
            {normed}, {exact});
  return exact;
}

}  // namespace

TensorId append_experts_block(ModelBlockBuildContext& e, TensorId normed) {
  const TensorId router_rows = router_input(e, normed);
  e.kept.set(KeptTensorRole::kMlpLinearInput, router_rows);
  const RouterResult choice = append_router(e, router_rows);
  append_router_choice_messages(e, choice.counts);
  const bool narrows = e.s.model->experts->latent > 0;
  SharedForward shared(e, normed);
  ExpertExchangeTensors own{.rows = narrows ? append_matrix_product(e, normed, latent_in(e.s))
                                            : normed};
  if (sends_tokens_to_other_ranks(e.s)) own.weights = choice.weights;
  const ExpertExchangeLabels out{.phase = e.forward, .part = LayerPart::kDispatch};
  const ExpertExchangeTensors arrived = append_expert_dispatch_messages(e, own, out);
  shared.beside_dispatch();
  const ExpertExchangeTensors rows = append_expert_dispatch_wait(e, arrived, own, out);
  const TensorId weights = sends_tokens_to_other_ranks(e.s) ? rows.weights : choice.weights;
  e.kept.set(KeptTensorRole::kExpertWeights, weights);
  const TensorId result = grouped(e, rows.rows);
  ExpertExchangeLabels in{.phase = e.forward, .part = LayerPart::kCombine};
  if (!weighs_before(e.s)) {
    e.kept.set(KeptTensorRole::kCombined, result);
    if (weighs_rows(e.s)) weigh_rows(e, result, weights);
    in.weigh = weights;
  }
  const ExpertExchangeTensors back = append_expert_combine_messages(e, {.rows = result}, in);
  shared.beside_combine();
  TensorId routed = append_expert_combine_wait(e, back, in).rows;
  if (narrows) {
    routed = append_matrix_product_keeping_input(e, routed, latent_out(e.s),
                                                 KeptTensorRole::kLatentOut, routed);
  }
  const TensorId all = shared.added_to(routed);
  record_module_end_tensor(e, plan::RecomputeModule::kMoe, all);
  return all;
}

TensorId append_experts_block_backward(ModelBlockBuildContext& e, TensorId dy) {
  SharedBackward shared(e, dy);
  const ExpertExchangeTensors through = through_latent_backward(e, dy, shared);
  const TensorId d_routed =
      add_rows(e, through.rows, append_router_backward(e, through.weights), Phase::kDataGradient);
  return shared.added_to(d_routed);
}

}  // namespace stepwright::step

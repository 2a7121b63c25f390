#include "stepwright/step/router.h"

namespace stepwright::step {
namespace {

MatrixProduct router(const StepBuildSettings& s) {
  return {.rows = s.rows,
          .inner = s.model->hidden,
          .columns = s.model->experts->count,
          .part = LayerPart::kRouter,
          .wide = true,
          .exact = s.exact_router};
}

Operator top_k(const ModelBlockBuildContext& e, Phase phase) {
  const model::MixtureOfExperts& experts = *e.s.model->experts;
  return {.kind = OperatorKind::kTopK,
          .phase = phase,
          .dtype = e.s.exact,
          .shape = {.rows = e.s.rows, .columns = experts.count, .inner = experts.top_k},
          .part = LayerPart::kTopK};
}

}  // namespace

RouterResult append_router(ModelBlockBuildContext& e, TensorId normed) {
  const StepBuildSettings& s = e.s;
  const model::MixtureOfExperts& experts = *s.model->experts;
  const TensorId logits = append_matrix_product(e, normed, router(s));
  const TensorId probabilities =
      create_activation_tensor(e, "router.probabilities", s.exact, s.rows, experts.count);
  const TensorId indices =
      create_activation_tensor(e, "router.indices", DType::kInt32, s.rows, experts.top_k);
  const RouterResult choice{
      .weights = create_activation_tensor(e, "router.weights", s.exact, s.rows, experts.top_k),
      .counts = create_activation_tensor(e, "router.counts", DType::kInt64, 1, experts.count)};
  e.out.add(top_k(e, e.forward), {logits}, {probabilities, choice.weights, indices, choice.counts});
  e.kept.set(KeptTensorRole::kRouterProbabilities, probabilities);
  e.kept.set(KeptTensorRole::kRouterIndices, indices);
  return choice;
}

TensorId append_router_backward(ModelBlockBuildContext& e, TensorId d_weights) {
  const StepBuildSettings& s = e.s;
  const TensorId d_logits =
      create_activation_tensor(e, "gradient", s.rows, s.model->experts->count);
  e.out.add(top_k(e, Phase::kDataGradient),
            {d_weights, tensor_kept_by_forward(e, KeptTensorRole::kRouterProbabilities),
             tensor_kept_by_forward(e, KeptTensorRole::kRouterIndices)},
            {d_logits});
  return append_matrix_product_backward(e, d_logits, KeptTensorRole::kMlpLinearInput, router(s));
}

}  // namespace stepwright::step

#include "stepwright/step/router.h"

namespace stepwright::step {
namespace {

Product router(const Setting& s) {
  return {.rows = s.rows,
          .inner = s.model->hidden,
          .columns = s.model->experts->count,
          .part = LayerPart::kRouter,
          .wide = true,
          .exact = s.exact_router};
}

Operator top_k(const BlockBuildContext& e, Phase phase) {
  const model::Experts& experts = *e.s.model->experts;
  return {.kind = OperatorKind::kTopK,
          .phase = phase,
          .dtype = e.s.exact,
          .shape = {.rows = e.s.rows, .columns = experts.count, .inner = experts.top_k},
          .part = LayerPart::kTopK};
}

}  // namespace

RouterResult append_router(BlockBuildContext& e, TensorId normed) {
  const Setting& s = e.s;
  const model::Experts& experts = *s.model->experts;
  const TensorId logits = append_matrix_product(e, normed, router(s));
  const TensorId probabilities =
      activation(e, "router.probabilities", s.exact, s.rows, experts.count);
  const TensorId indices = activation(e, "router.indices", DType::kInt32, s.rows, experts.top_k);
  const RouterResult choice{
      .weights = activation(e, "router.weights", s.exact, s.rows, experts.top_k),
      .counts = activation(e, "router.counts", DType::kInt64, 1, experts.count)};
  e.out.add(top_k(e, e.forward), {logits}, {probabilities, choice.weights, indices, choice.counts});
  e.kept.set(Keep::kRouterProbabilities, probabilities);
  e.kept.set(Keep::kRouterIndices, indices);
  return choice;
}

TensorId append_router_backward(BlockBuildContext& e, TensorId d_weights) {
  const Setting& s = e.s;
  const TensorId d_logits = activation(e, "gradient", s.rows, s.model->experts->count);
  e.out.add(top_k(e, Phase::kDataGradient),
            {d_weights, kept(e, Keep::kRouterProbabilities), kept(e, Keep::kRouterIndices)},
            {d_logits});
  return append_product_backward(e, d_logits, Keep::kMlpLinearInput, router(s));
}

}  // namespace stepwright::step

#include "stepwright/step/blocks.h"

namespace stepwright {
namespace {

Product fc1(const Setting& s, const MlpRole& role) {
  const std::int64_t halves = s.model->gated ? 2 : 1;
  Product product{s.tokens, s.model->hidden, role.ffn / s.tensor * halves, role.fc1};
  if (!s.kernels.fused_gate) product.parts = halves;
  return product;
}

Product fc2(const Setting& s, const MlpRole& role) {
  return {s.tokens, role.ffn / s.tensor, s.model->hidden, role.fc2};
}

}  // namespace

MlpRole dense_mlp(const Architecture& model, const LayerClass& layer) {
  return {
      LayerPart::kFc1, LayerPart::kMlpActivation, LayerPart::kFc2,         Keep::kMlpLinearInput,
      Keep::kFc1Out,   Keep::kActivationOut,      model.dense_width(layer)};
}

MlpRole shared_mlp(const Architecture& model) {
  return {LayerPart::kSharedFc1,    LayerPart::kSharedActivation, LayerPart::kSharedFc2,
          Keep::kSharedLinearInput, Keep::kSharedFc1Out,          Keep::kSharedActivationOut,
          model.experts->shared_ffn};
}

namespace {

/// The parameters of a block where its activation has some; or their gradients.
TensorId trained(const Emit& e, TensorId block) {
  return e.s.model->activation == Activation::kXielu ? block : TensorId{-1};
}

}  // namespace

TensorId activate(Emit& e, TensorId x, const Sheet& sheet, LayerPart part) {
  const TensorId y = e.out.tensor({.name = "activation",
                                   .dtype = e.s.storage,
                                   .routed = sheet.routed,
                                   .extents = {sheet.rows, sheet.columns, 1}});
  e.out.add({.kind = OperatorKind::kActivation,
             .phase = e.forward,
             .dtype = e.s.storage,
             .routed = sheet.routed,
             .gated = e.s.model->gated,
             .shape = {.rows = sheet.rows, .columns = sheet.columns},
             .part = part},
            {x, trained(e, e.parameters)}, {y});
  return y;
}

TensorId activate_backward(Emit& e, TensorId dy, TensorId x, const Sheet& sheet, LayerPart part) {
  const TensorId dx =
      e.out.tensor({.name = "gradient",
                    .dtype = e.s.storage,
                    .routed = sheet.routed,
                    .extents = {sheet.rows, sheet.columns * (e.s.model->gated ? 2 : 1), 1}});
  e.out.add({.kind = OperatorKind::kActivation,
             .phase = Phase::kDataGradient,
             .dtype = e.s.storage,
             .routed = sheet.routed,
             .gated = e.s.model->gated,
             .shape = {.rows = sheet.rows, .columns = sheet.columns},
             .part = part},
            {dy, x, trained(e, e.parameters)}, {dx, trained(e, e.gradients)});
  return dx;
}

TensorId mlp_block(Emit& e, TensorId normed, const MlpRole& role) {
  const TensorId wide = column_linear(e, normed, role.input, fc1(e.s, role));
  e.kept.set(role.fc1_out, wide);
  const TensorId active = activate(e, wide, {e.s.tokens, role.ffn / e.s.tensor}, role.activation);
  e.kept.set(role.activation_out, active);
  return adapted_linear(e, active, fc2(e.s, role));
}

TensorId mlp_block_backward(Emit& e, TensorId dy, const MlpRole& role) {
  const TensorId d_active = linear_backward(e, dy, role.activation_out, fc2(e.s, role));
  const TensorId d_wide = activate_backward(e, d_active, kept(e, role.fc1_out),
                                            {e.s.tokens, role.ffn / e.s.tensor}, role.activation);
  return column_linear_backward(e, d_wide, role.input, fc1(e.s, role));
}

}  // namespace stepwright

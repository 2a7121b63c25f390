#include "stepwright/step/blocks.h"

namespace stepwright::step {
namespace {

MatrixProduct fc1(const StepBuildSettings& s, const MlpOperatorNames& role) {
  const std::int64_t halves = s.model->gated ? 2 : 1;
  MatrixProduct product{s.tokens, s.model->hidden, role.ffn / s.tensor * halves, role.fc1};
  if (!s.kernels.fused_gate) product.parts = halves;
  return product;
}

MatrixProduct fc2(const StepBuildSettings& s, const MlpOperatorNames& role) {
  return {s.tokens, role.ffn / s.tensor, s.model->hidden, role.fc2};
}

}  // namespace

MlpOperatorNames dense_mlp(const model::ModelArchitecture& model, const model::LayerClass& layer) {
  return {LayerPart::kFc1,
          LayerPart::kMlpActivation,
          LayerPart::kFc2,
          KeptTensorRole::kMlpLinearInput,
          KeptTensorRole::kFc1Out,
          KeptTensorRole::kActivationOut,
          model.dense_mlp_width(layer)};
}

MlpOperatorNames shared_mlp(const model::ModelArchitecture& model) {
  return {LayerPart::kSharedFc1,         LayerPart::kSharedActivation,
          LayerPart::kSharedFc2,         KeptTensorRole::kSharedLinearInput,
          KeptTensorRole::kSharedFc1Out, KeptTensorRole::kSharedActivationOut,
          model.experts->shared_ffn};
}

namespace {

/// Returns `block` (parameters, or their gradients) if the activation function has parameters; else
/// -1.
TensorId trained(const ModelBlockBuildContext& e, TensorId block) {
  return e.s.model->activation == model::ActivationFunction::kXielu ? block : TensorId{-1};
}

OperatorPurpose purpose_of(const ActivationFunctionOperands& beside) {
  return beside.weights >= 0 ? OperatorPurpose::kWeightedExperts : OperatorPurpose::kPlain;
}

}  // namespace

bool mlp_keeps_activated_gates(const StepBuildSettings& setting) {
  const plan::FrameworkKernels& kernels = setting.kernels;
  return setting.model->gated && !(kernels.fused_norm && kernels.fused_activation);
}

TensorId append_activation_function(ModelBlockBuildContext& e, TensorId x,
                                    const ActivationMatrixSize& sheet, LayerPart part,
                                    const ActivationFunctionOperands& beside) {
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
             .part = part,
             .purpose = purpose_of(beside)},
            {x, beside.other, beside.places, beside.weights, trained(e, e.parameters)},
            {y, beside.gate, beside.unweighted});
  return y;
}

TensorId append_activation_function_backward(ModelBlockBuildContext& e, TensorId dy, TensorId x,
                                             const ActivationMatrixSize& sheet, LayerPart part,
                                             const ActivationFunctionOperands& beside) {
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
             .part = part,
             .purpose = purpose_of(beside)},
            {dy, x, beside.other, beside.places, beside.weights, trained(e, e.parameters),
             beside.gate, beside.unweighted},
            {dx, beside.d_weights, trained(e, e.gradients)});
  return dx;
}

namespace {

/// True if an MLP's gate and its other half are two separate products.
bool splits_gate(const ModelBlockBuildContext& e) {
  return e.splits_gate && e.s.model->gated && !e.s.model->adapters;
}

/// True if the dense MLP keeps its activated gates: eager PyTorch does, for the gradient of the
/// multiplication with the other half.
bool keeps_gate(const ModelBlockBuildContext& e, const MlpOperatorNames& role) {
  return mlp_keeps_activated_gates(e.s) && role.fc1_out == KeptTensorRole::kFc1Out;
}

TensorId gate_tensor(ModelBlockBuildContext& e, const MlpOperatorNames& role) {
  if (!keeps_gate(e, role)) return -1;
  e.kept.set(KeptTensorRole::kGate,
             create_activation_tensor(e, "gate", e.s.tokens, role.ffn / e.s.tensor));
  return e.kept.get(KeptTensorRole::kGate);
}

/// Writes the first product as two products of the same gathered rows, whose results are kept under
/// separate roles.
void fc1_in_halves(ModelBlockBuildContext& e, TensorId normed, const MlpOperatorNames& role) {
  MatrixProduct half = fc1(e.s, role);
  half.columns /= 2;
  half.parts = 1;
  const TensorId gathered =
      enter_tensor_parallel_region(e, normed, {half.inner, half.part, e.forward});
  e.kept.set(role.input, e.s.keep_gathered ? gathered : normed);
  e.kept.set(role.fc1_out, append_matrix_product(e, gathered, half));
  e.kept.set(KeptTensorRole::kFc1Up, append_matrix_product(e, gathered, half));
}

}  // namespace

TensorId append_mlp_first_half(ModelBlockBuildContext& e, TensorId normed,
                               const MlpOperatorNames& role) {
  const bool halves = splits_gate(e);
  if (halves) {
    fc1_in_halves(e, normed, role);
  } else {
    e.kept.set(role.fc1_out, append_column_parallel_product(e, normed, role.input, fc1(e.s, role)));
  }
  const TensorId active = append_activation_function(
      e, e.kept.get(role.fc1_out), {e.s.tokens, role.ffn / e.s.tensor}, role.activation,
      {.other = halves ? e.kept.get(KeptTensorRole::kFc1Up) : TensorId{-1},
       .gate = gate_tensor(e, role)});
  return active;
}

TensorId append_mlp_second_half(ModelBlockBuildContext& e, TensorId active,
                                const MlpOperatorNames& role) {
  return append_matrix_product_with_lora(e, active, fc2(e.s, role), role.activation_out);
}

TensorId append_mlp_block(ModelBlockBuildContext& e, TensorId normed,
                          const MlpOperatorNames& role) {
  return append_mlp_second_half(e, append_mlp_first_half(e, normed, role), role);
}

TensorId mlp_down_backward(ModelBlockBuildContext& e, TensorId dy, const MlpOperatorNames& role) {
  return append_matrix_product_backward(e, dy, role.activation_out, fc2(e.s, role));
}

TensorId mlp_up_backward(ModelBlockBuildContext& e, TensorId d_active,
                         const MlpOperatorNames& role) {
  const TensorId other = splits_gate(e) ? tensor_kept_by_forward(e, KeptTensorRole::kFc1Up) : -1;
  const TensorId d_wide = append_activation_function_backward(
      e, d_active, tensor_kept_by_forward(e, role.fc1_out), {e.s.tokens, role.ffn / e.s.tensor},
      role.activation,
      {.other = other,
       .gate =
           keeps_gate(e, role) ? tensor_kept_by_forward(e, KeptTensorRole::kGate) : TensorId{-1}});
  return append_column_parallel_product_backward(e, d_wide, role.input, fc1(e.s, role));
}

TensorId append_mlp_block_backward(ModelBlockBuildContext& e, TensorId dy,
                                   const MlpOperatorNames& role) {
  return mlp_up_backward(e, mlp_down_backward(e, dy, role), role);
}

}  // namespace stepwright::step

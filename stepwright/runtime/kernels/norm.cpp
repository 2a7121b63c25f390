// Kernels of RMSNorm and LayerNorm over rows.
#include <array>
#include <vector>

#include "stepwright/model/parameters.h"
#include "stepwright/runtime/kernels/kernels.h"

namespace stepwright::runtime {
namespace {

struct Normed {
  at::Tensor out;
  at::Tensor statistics;  ///< For each row 1 / rms; for LayerNorm mean and 1 / deviation.
};

/// Norms over the last dimension of `x`, which is in the exact type.
Normed rms(const at::Tensor& x, const at::Tensor& weight, double epsilon) {
  auto [out, scale] = at::_fused_rms_norm(x, {x.size(-1)}, weight, epsilon);
  return {out, scale};
}

struct Gradients {
  at::Tensor input;
  at::Tensor weight;
  at::Tensor bias;
};

at::Tensor over_rows(const at::Tensor& t) { return t.reshape({-1, t.size(-1)}).sum(0); }

Gradients rms_backward(const at::Tensor& dy, const at::Tensor& x, const at::Tensor& scale,
                       const at::Tensor& weight) {
  const at::Tensor unit = x * scale;
  at::Tensor each = dy * unit;
  const at::Tensor of_weight = over_rows(each);
  const at::Tensor along = each.matmul(weight).unsqueeze(-1).div_(x.size(-1));
  at::mul_out(each, dy, weight);
  return {each.sub_(unit.mul_(along)).mul_(scale), of_weight, {}};
}

Normed layer(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias,
             double epsilon) {
  auto [out, mean, scale] = at::native_layer_norm(x, {x.size(-1)}, weight, bias, epsilon);
  return {out, at::cat({mean, scale}, -1)};
}

Gradients layer_backward(const at::Tensor& dy, const at::Tensor& x, const at::Tensor& statistics,
                         const at::Tensor& weight) {
  auto [input, of_weight, of_bias] = at::native_layer_norm_backward(
      dy, x, {x.size(-1)}, statistics.narrow(1, 0, 1).contiguous(),
      statistics.narrow(1, 1, 1).contiguous(), weight, weight, {true, true, true});
  return {input, of_weight, of_bias};
}

/// Returns the columns that are normed; other columns may follow them.
at::Tensor normed(const KernelCall& call, const at::Tensor& rows) {
  return rows.narrow(1, 0, call.op.shape.columns);
}

/// Returns the weight of a norm by name; ones if the norm has none.
at::Tensor weight_of(const KernelCall& call, std::string_view name, std::int64_t columns) {
  const at::Tensor weight = call.operator_weight(name);
  if (!weight.defined())
    return at::ones({columns}, call.rank.tensor_options_of(call.rank.setting.exact));
  const at::Tensor wide = weight.to(call.data_type_of_statistics());
  return call.rank.setting.model->norm_unit_offset ? wide + 1 : wide;
}

at::Tensor bias_of(const KernelCall& call, std::string_view name) {
  const at::Tensor bias = call.operator_weight(model::bias_name(name));
  return bias.defined() ? bias.to(call.data_type_of_statistics()) : bias;
}

/// Returns the epsilon of a norm; norms of latent rows may have their own.
double epsilon_of(const KernelCall& call) {
  const model::ModelArchitecture& model = *call.rank.setting.model;
  constexpr double kOfIndexer = 1e-6;  // huggingface/transformers models/deepseek_v32, `k_norm`
  if (call.op.part == step::LayerPart::kIndexNorm) return kOfIndexer;
  const bool inner =
      call.op.part == step::LayerPart::kQueryNorm || call.op.part == step::LayerPart::kKeyValueNorm;
  return model.latent && inner && model.inner_norm_epsilon > 0 ? model.inner_norm_epsilon
                                                               : model.norm_epsilon;
}

void accumulate_named(const KernelCall& call, std::string_view name, const at::Tensor& value) {
  const at::Tensor gradient = call.gradient(name);
  if (gradient.defined()) accumulate_gradient(gradient, value);
}

/// Returns the widths of the runs of a Mamba row that are normed separately: step sizes, B and C
/// (Jamba).
std::array<std::int64_t, 3> selected_widths(const KernelCall& call) {
  const model::RecurrentMixer& m = *call.rank.setting.model->state_mixer;
  return {m.step_rank, m.state, m.state};
}

void select_norm_forward(KernelCall& call) {
  const auto type = call.data_type_of_statistics();
  const at::Tensor x = call.read_operand(0).to(type);
  const at::Tensor weight = call.operator_weight(step::layer_part_name(call.op.part)).to(type);
  std::vector<at::Tensor> out;
  std::vector<at::Tensor> scales;
  std::int64_t begin = 0;
  for (const std::int64_t width : selected_widths(call)) {
    const Normed part = rms(x.narrow(1, begin, width).contiguous(), weight.narrow(0, begin, width),
                            call.rank.setting.model->norm_epsilon);
    out.push_back(part.out);
    scales.push_back(part.statistics);
    begin += width;
  }
  call.write_result(0, at::cat(out, 1).to(call.read_operand(0).scalar_type()));
  call.write_result(1, at::cat(scales, 1));
}

void select_norm_backward(KernelCall& call) {
  const auto type = call.data_type_of_statistics();
  const std::string_view name = step::layer_part_name(call.op.part);
  const at::Tensor dy = call.read_operand(0).to(type);
  const at::Tensor x = call.read_operand(1).to(type);
  const at::Tensor weight = call.operator_weight(name).to(type);
  std::vector<at::Tensor> inputs;
  std::vector<at::Tensor> weights;
  std::int64_t begin = 0;
  for (const std::int64_t width : selected_widths(call)) {
    const auto part = static_cast<std::int64_t>(inputs.size());
    const Gradients g =
        rms_backward(dy.narrow(1, begin, width), x.narrow(1, begin, width),
                     call.read_operand(2).narrow(1, part, 1), weight.narrow(0, begin, width));
    inputs.push_back(g.input);
    weights.push_back(g.weight);
    begin += width;
  }
  call.write_result(0, at::cat(inputs, 1).to(call.read_operand(0).scalar_type()));
  accumulate_named(call, name, at::cat(weights));
}

}  // namespace

void norm_forward(KernelCall& call) {
  if (call.op.part == step::LayerPart::kMixerSelectNorm) return select_norm_forward(call);
  if (call.op.purpose == step::OperatorPurpose::kHeadSums) return head_sums(call);
  if (call.op.purpose == step::OperatorPurpose::kHeadNorm) return head_norm_forward(call);
  const at::Tensor x = normed(call, call.read_operand(0));
  const auto type = call.data_type_of_statistics();
  const std::string_view name = step::layer_part_name(call.op.part);
  const at::Tensor weight = weight_of(call, name, x.size(-1));
  const Normed y = call.rank.setting.norm_kind_of_part(call.op.part) == model::Norm::kLayer
                       ? layer(x.to(type), weight, bias_of(call, name), epsilon_of(call))
                       : rms(x.to(type), weight, epsilon_of(call));
  call.write_result(0, y.out.to(x.scalar_type()));
  call.write_result(1, y.statistics);
}

void norm_backward_kernel(KernelCall& call) {
  if (call.op.part == step::LayerPart::kMixerSelectNorm) return select_norm_backward(call);
  if (call.op.purpose == step::OperatorPurpose::kHeadSums) return head_sums(call);
  if (call.op.purpose == step::OperatorPurpose::kHeadNorm) return head_norm_backward(call);
  const at::Tensor& dy = call.read_operand(0);
  const auto type = call.data_type_of_statistics();
  const at::Tensor x = normed(call, call.read_operand(1)).to(type);
  const bool layered = call.rank.setting.norm_kind_of_part(call.op.part) == model::Norm::kLayer;
  const std::string_view name = step::layer_part_name(call.op.part);
  const at::Tensor weight = weight_of(call, name, x.size(-1));
  const Gradients g = layered ? layer_backward(dy.to(type), x, call.read_operand(2), weight)
                              : rms_backward(dy.to(type), x, call.read_operand(2), weight);
  const at::Tensor dx = g.input.to(dy.scalar_type());
  call.write_result(0, call.has_operand(3) ? dx + call.read_operand(3) : dx);
  accumulate_named(call, name, g.weight);
  if (layered) accumulate_named(call, model::bias_name(name), g.bias);
}

}  // namespace stepwright::runtime

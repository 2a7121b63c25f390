// The gates of mixers with a state. A scan's result is multiplied by an activation of the gates; it
// is normed over each head before that (delta net), over groups of heads after it (Mamba-2), or not
// at all. Also the products of the streams of a short convolution.
#include "stepwright/runtime/kernels/kernels.h"
#include "stepwright/runtime/kernels/mixer_parts.h"

namespace stepwright::runtime {
namespace {

constexpr std::string_view kMixerNorm = "mixer.norm";

bool is_short(const MixerLayerSizes& parts) {
  return parts.kind == model::TokenMixer::kShortConvolution;
}

/// Returns the number of runs of a row that are normed separately: heads, or groups of them.
std::int64_t normed_groups(const MixerLayerSizes& parts) {
  return parts.kind == model::TokenMixer::kDeltaNet ? parts.heads : parts.groups;
}

/// Returns the weight of the norm, shaped as a factor of [batch, length, groups, width].
at::Tensor norm_weight(const KernelCall& call, const MixerLayerSizes& parts) {
  if (parts.kind == model::TokenMixer::kDeltaNet)
    return call.operator_weight(kMixerNorm).to(call.data_type_of_statistics()).flatten();
  return parameter_part_on_this_rank(call, parts, kMixerNorm, {parts.values()})
      .view({normed_groups(parts), -1});
}

void add_norm_gradient(const KernelCall& call, const MixerLayerSizes& parts,
                       const at::Tensor& each) {
  const at::Tensor sum = each.sum(at::IntArrayRef{0, 1});
  if (parts.kind == model::TokenMixer::kDeltaNet)
    return accumulate_gradient(call.gradient(kMixerNorm), sum.sum(0));
  add_to_rank_gradient(call, parts, kMixerNorm, {parts.values()}, sum.flatten());
}

at::Tensor columns(const KernelCall& call, const MixerLayerSizes& parts, const at::Tensor& rows,
                   std::int64_t first) {
  const std::int64_t groups = is_short(parts) ? 1 : normed_groups(parts);
  return split_columns_by_head(call, rows, first, parts.values(), groups);
}

/// Rows scaled so that their squares have the mean 1, and the scale.
struct Levelled {
  at::Tensor rows;
  at::Tensor scale;
};

Levelled levelled(const KernelCall& call, const at::Tensor& x) {
  const model::ModelArchitecture& model = *call.rank.setting.model;
  const bool inner = model.inner_norm_epsilon > 0 &&
                     call.layer_class().recurrent_mixer_kind() == model::TokenMixer::kDeltaNet;
  const double epsilon = inner ? model.inner_norm_epsilon : model.norm_epsilon;
  const at::Tensor scale = at::rsqrt(x.square().mean(-1, true) + epsilon);
  return {x * scale, scale};
}

at::Tensor levelled_backward(const at::Tensor& d, const Levelled& made) {
  return (d - made.rows * (d * made.rows).mean(-1, true)) * made.scale;
}

/// True if the rows are the three streams of a short convolution, of which the first and the third
/// are multiplied before it; false: they are its result, which is multiplied by the second stream.
bool enters(const MixerLayerSizes& parts, const at::Tensor& rows) {
  return rows.size(1) > parts.values();
}

void short_forward(KernelCall& call, const MixerLayerSizes& parts) {
  const at::Tensor& values = call.read_operand(0);
  const std::int64_t width = parts.values();
  if (enters(parts, values))
    return call.write_result(0, values.narrow(1, 0, width) * values.narrow(1, 2 * width, width));
  call.write_result(0, values * call.read_operand(1).narrow(1, width, width));
}

/// Operands after the convolution: the gradient, the convolution's result, the streams; before it:
/// the gradient, the streams, and their gradient so far.
void short_backward(KernelCall& call, const MixerLayerSizes& parts) {
  const at::Tensor& dy = call.read_operand(0);
  const std::int64_t width = parts.values();
  if (enters(parts, call.read_operand(1))) {
    const at::Tensor& in = call.read_operand(1);
    at::Tensor d = call.read_operand(2);
    d.narrow(1, 0, width).copy_(dy * in.narrow(1, 2 * width, width));
    d.narrow(1, 2 * width, width).copy_(dy * in.narrow(1, 0, width));
    return call.write_result(0, std::move(d));
  }
  const at::Tensor& in = call.read_operand(2);
  at::Tensor d = at::zeros_like(in);
  d.narrow(1, width, width).copy_(dy * call.read_operand(1));
  call.write_result(0, dy * in.narrow(1, width, width));
  call.write_result(1, std::move(d));
}

}  // namespace

void mixer_gate_forward(KernelCall& call) {
  const MixerLayerSizes parts = mixer_parts(call.rank, call.layer_class().recurrent_mixer_kind());
  if (is_short(parts)) return short_forward(call, parts);
  const at::Tensor values = columns(call, parts, call.read_operand(0), 0);
  const at::Tensor gates =
      at::silu(columns(call, parts, call.read_operand(1), parts.gates_first_column()));
  if (!call.rank.setting.model->state_mixer->normed) {
    return call.write_result(0, as_rows(values * gates, call.read_operand(0)));
  }
  const bool first = parts.kind == model::TokenMixer::kDeltaNet;
  const Levelled made = levelled(call, first ? values : values * gates);
  const at::Tensor out = made.rows * norm_weight(call, parts);
  call.write_result(0, as_rows(first ? out * gates : out, call.read_operand(0)));
  const std::int64_t run = parts.heads / normed_groups(parts);
  call.write_result(1, as_rows(made.scale.squeeze(-1).repeat_interleave(run, 2), made.scale));
}

void mixer_gate_backward(KernelCall& call) {
  const MixerLayerSizes parts = mixer_parts(call.rank, call.layer_class().recurrent_mixer_kind());
  if (is_short(parts)) return short_backward(call, parts);
  const at::Tensor& in = call.read_operand(2);
  const at::Tensor dy = columns(call, parts, call.read_operand(0), 0);
  const at::Tensor values = columns(call, parts, call.read_operand(1), 0);
  const at::Tensor before = columns(call, parts, in, parts.gates_first_column());
  const at::Tensor gates = at::silu(before);
  at::Tensor d_values;
  at::Tensor d_gates;
  if (!call.rank.setting.model->state_mixer->normed) {
    d_values = dy * gates;
    d_gates = dy * values;
  } else if (parts.kind == model::TokenMixer::kDeltaNet) {
    const Levelled made = levelled(call, values);
    const at::Tensor weight = norm_weight(call, parts);
    add_norm_gradient(call, parts, dy * gates * made.rows);
    d_values = levelled_backward(dy * gates * weight, made);
    d_gates = dy * made.rows * weight;
  } else {
    const Levelled made = levelled(call, values * gates);
    add_norm_gradient(call, parts, dy * made.rows);
    const at::Tensor d_product = levelled_backward(dy * norm_weight(call, parts), made);
    d_values = d_product * gates;
    d_gates = d_product * values;
  }
  at::Tensor d_in = at::zeros_like(in);
  d_in.narrow(1, parts.gates_first_column(), parts.values())
      .copy_(as_rows(at::silu_backward(d_gates, before), in));
  call.write_result(0, as_rows(d_values, in));
  call.write_result(1, std::move(d_in));
}

}  // namespace stepwright::runtime

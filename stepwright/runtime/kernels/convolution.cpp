// The short causal convolution of mixers with a state, for each channel separately, and the
// activation after it; a mixer that is only a short convolution has no activation.
#include "stepwright/runtime/kernels/kernels.h"
#include "stepwright/runtime/kernels/mixer_parts.h"

namespace stepwright::runtime {
namespace {

constexpr std::string_view kTaps = "mixer.convolution";
constexpr std::string_view kTapsBias = "mixer.convolution_bias";

/// Returns [batch, length, channels] moved by `by` tokens to later ones (below 0: earlier), with
/// zeros where there are none.
at::Tensor shifted(const at::Tensor& x, std::int64_t by) {
  return at::constant_pad_nd(x, {0, 0, by, -by});
}

struct Convolution {
  MixerLayerSizes parts;
  at::Tensor input;   ///< Rows that are convolved, [batch, length, channels].
  at::Tensor weight;  ///< Weights of the convolution, [channels, tokens].
  at::Tensor bias;

  [[nodiscard]] bool activates() const {
    return parts.kind != model::TokenMixer::kShortConvolution;
  }
  [[nodiscard]] std::int64_t taps() const { return weight.size(1); }
  /// Returns how many tokens back a weight reaches.
  [[nodiscard]] std::int64_t back(std::int64_t tap) const { return taps() - 1 - tap; }
};

Convolution convolution(const KernelCall& call, const at::Tensor& rows) {
  Convolution c{.parts = mixer_parts(call.rank, call.layer_class().recurrent_mixer_kind())};
  c.weight =
      parameter_part_on_this_rank(call, c.parts, kTaps, c.parts.convolution_channel_counts());
  if (c.weight.dim() == 1) c.weight = c.weight.unsqueeze(1);  // one tap
  c.bias =
      parameter_part_on_this_rank(call, c.parts, kTapsBias, c.parts.convolution_channel_counts());
  if (c.bias.defined()) c.bias = c.bias.flatten();
  c.input = split_columns_by_head(call, rows,
                                  c.activates() ? c.parts.convolution_input_first_column() : 0,
                                  c.weight.size(0), 1)
                .squeeze(2);
  return c;
}

at::Tensor sums(const Convolution& c) {
  at::Tensor y = at::zeros_like(c.input);
  for (std::int64_t tap = 0; tap < c.taps(); ++tap) {
    y = y + shifted(c.input, c.back(tap)) * c.weight.select(1, tap);
  }
  return c.bias.defined() ? y + c.bias : y;
}

}  // namespace

void convolution_forward(KernelCall& call) {
  const Convolution c = convolution(call, call.read_operand(0));
  const at::Tensor y = sums(c);
  call.write_result(0, as_rows(c.activates() ? at::silu(y) : y, call.read_operand(0)));
}

/// Operands: the gradient of the result, the input, and rows into which the input's gradient is
/// written.
void convolution_backward(KernelCall& call) {
  const Convolution c = convolution(call, call.read_operand(1));
  at::Tensor d =
      split_columns_by_head(call, call.read_operand(0), 0, c.weight.size(0), 1).squeeze(2);
  if (c.activates()) d = at::silu_backward(d, sums(c));
  at::Tensor d_input = at::zeros_like(c.input);
  std::vector<at::Tensor> d_weight;
  for (std::int64_t tap = 0; tap < c.taps(); ++tap) {
    d_input = d_input + shifted(d, -c.back(tap)) * c.weight.select(1, tap);
    d_weight.push_back((shifted(c.input, c.back(tap)) * d).sum(at::IntArrayRef{0, 1}));
  }
  add_to_rank_gradient(call, c.parts, kTaps, c.parts.convolution_channel_counts(),
                       at::stack(d_weight, 1));
  if (c.bias.defined()) {
    const at::Tensor gradient = d.sum(at::IntArrayRef{0, 1});
    add_to_rank_gradient(call, c.parts, kTapsBias, c.parts.convolution_channel_counts(), gradient);
  }
  const at::Tensor rows = as_rows(d_input, call.read_operand(1));
  if (!c.activates()) return call.write_result(0, rows);
  at::Tensor all = call.read_operand(2);
  all.narrow(1, c.parts.convolution_input_first_column(), rows.size(1)).copy_(rows);
  call.write_result(0, std::move(all));
}

}  // namespace stepwright::runtime

// Reference code after transformers' own (models/qwen3_next, mamba2, mamba, lfm2), token by token.
#include "tests/runtime/reference_mixers.h"

#include <array>
#include <cmath>
#include <utility>
#include <vector>

namespace stepwright::testing {
namespace {

using at::Tensor;

Tensor linear(const Tensor& x, const LayerParameters& p, const std::string& name) {
  const Tensor y = at::matmul(x, p(name).t());
  const Tensor bias = p(name + "_bias");
  return bias.defined() ? y + bias : y;
}

/// Convolves [batch, length, channels], each channel separately.
Tensor convolved(const Tensor& x, const LayerParameters& p) {
  const Tensor weight = p("mixer.convolution");
  const Tensor bias = p("mixer.convolution_bias");
  const std::int64_t taps = weight.size(1);
  const Tensor padded = at::constant_pad_nd(x.transpose(1, 2), {taps - 1, 0});
  const std::array<std::int64_t, 1> once{1};
  const std::array<std::int64_t, 1> nothing{0};
  return at::conv1d(padded, weight.unsqueeze(1), bias.defined() ? bias.flatten() : bias, once,
                    nothing, once, weight.size(0))
      .transpose(1, 2);
}

Tensor unit(const Tensor& x) { return x * (x.pow(2).sum(-1, true) + 1e-6).rsqrt(); }

Tensor levelled(const Tensor& x, double epsilon) {
  return x * (x.pow(2).mean(-1, true) + epsilon).rsqrt();
}

Tensor delta_net(const model::ModelArchitecture& model, const Tensor& x, const LayerParameters& p) {
  const model::RecurrentMixer& m = *model.state_mixer;
  const std::int64_t keys = m.groups * m.state;
  const std::int64_t values = m.heads * m.head_dim;
  const std::vector<Tensor> in =
      linear(x, p, "mixer.in").split_with_sizes({2 * keys + values, values, m.heads, m.heads}, -1);
  const std::vector<Tensor> qkv =
      at::silu(convolved(in[0], p)).split_with_sizes({keys, keys, values}, -1);
  const auto heads = [&](const Tensor& t, std::int64_t count) {
    return t.unflatten(-1, {count, -1}).repeat_interleave(m.heads / count, 2);
  };
  const Tensor q = unit(heads(qkv[0], m.groups)) / std::sqrt(1.0 * m.state);
  const Tensor k = unit(heads(qkv[1], m.groups));
  const Tensor v = heads(qkv[2], m.heads);
  const Tensor strength = in[2].sigmoid();
  const Tensor decay =
      (-p("mixer.decay").flatten().exp() * at::softplus(in[3] + p("mixer.step_bias").flatten()))
          .exp();
  Tensor state = at::zeros({x.size(0), m.heads, m.state, m.head_dim}, at::kDouble);
  std::vector<Tensor> out;
  for (std::int64_t t = 0; t < x.size(1); ++t) {
    state = state * decay.select(1, t).unsqueeze(-1).unsqueeze(-1);
    const Tensor key = k.select(1, t).unsqueeze(-1);
    const Tensor known = (state * key).sum(-2);
    const Tensor fresh = (v.select(1, t) - known) * strength.select(1, t).unsqueeze(-1);
    state = state + key * fresh.unsqueeze(-2);
    out.push_back((state * q.select(1, t).unsqueeze(-1)).sum(-2));
  }
  Tensor y = at::stack(out, 1);
  const Tensor gates = at::silu(in[1].unflatten(-1, {m.heads, -1}));
  if (m.normed) y = levelled(y, model.norm_epsilon) * p("mixer.norm").flatten();
  return linear((y * gates).flatten(2), p, "mixer.out");
}

/// Operands of the scan of Mamba and Mamba-2: [batch, length, heads, ...].
struct Scan {
  Tensor values;  ///< Values in shape [.., dimension].
  Tensor steps;
  Tensor decays;  ///< [.., state or 1].
  Tensor keys;    ///< Keys in shape [.., state].
  Tensor queries;
};

Tensor scanned(const Scan& in, const Tensor& skip) {
  Tensor state = at::zeros(
      {in.values.size(0), in.values.size(2), in.values.size(3), in.keys.size(3)}, at::kDouble);
  std::vector<Tensor> out;
  for (std::int64_t t = 0; t < in.values.size(1); ++t) {
    const Tensor step = in.steps.select(1, t).unsqueeze(-1);
    const Tensor value = in.values.select(1, t);
    state = state * in.decays.select(1, t).unsqueeze(-2) +
            (value * step).unsqueeze(-1) * in.keys.select(1, t).unsqueeze(-2);
    out.push_back((state * in.queries.select(1, t).unsqueeze(-2)).sum(-1) +
                  value * skip.flatten().unsqueeze(-1));
  }
  return at::stack(out, 1);
}

Tensor mamba2(const model::ModelArchitecture& model, const Tensor& x, const LayerParameters& p) {
  const model::RecurrentMixer& m = *model.state_mixer;
  const std::int64_t keys = m.groups * m.state;
  const std::int64_t values = m.heads * m.head_dim;
  const std::vector<Tensor> in =
      linear(x, p, "mixer.in").split_with_sizes({values, values + 2 * keys, m.heads}, -1);
  const std::vector<Tensor> parts =
      at::silu(convolved(in[1], p)).split_with_sizes({values, keys, keys}, -1);
  const auto heads = [&](const Tensor& t) {
    return t.unflatten(-1, {m.groups, -1}).repeat_interleave(m.heads / m.groups, 2);
  };
  const Tensor steps = at::softplus(in[2] + p("mixer.step_bias").flatten());
  const Tensor decays = (-p("mixer.decay").flatten().exp() * steps).exp().unsqueeze(-1);
  Tensor y = scanned({parts[0].unflatten(-1, {m.heads, -1}), steps, decays, heads(parts[1]),
                      heads(parts[2])},
                     p("mixer.skip"))
                 .flatten(2) *
             at::silu(in[0]);
  if (m.normed) {
    y = levelled(y.unflatten(-1, {m.groups, -1}), model.norm_epsilon).flatten(2) *
        p("mixer.norm").flatten();
  }
  return linear(y, p, "mixer.out");
}

Tensor mamba(const model::ModelArchitecture& model, const Tensor& x, const LayerParameters& p) {
  const model::RecurrentMixer& m = *model.state_mixer;
  const std::vector<Tensor> in = linear(x, p, "mixer.in").chunk(2, -1);
  const Tensor values = at::silu(convolved(in[0], p));
  std::vector<Tensor> selected =
      linear(values, p, "mixer.select").split_with_sizes({m.step_rank, m.state, m.state}, -1);
  if (m.selection_normed) {
    const std::vector<Tensor> weights =
        p("mixer.select_norm").flatten().split_with_sizes({m.step_rank, m.state, m.state});
    for (std::size_t i = 0; i < selected.size(); ++i) {
      selected[i] = levelled(selected[i], model.norm_epsilon) * weights[i];
    }
  }
  const Tensor steps = at::softplus(linear(selected[0], p, "mixer.step"));
  const Tensor decays = (-p("mixer.decay").exp() * steps.unsqueeze(-1)).exp();
  const auto all = [&](const Tensor& t) { return t.unsqueeze(2).expand({-1, -1, m.heads, -1}); };
  const Tensor y = scanned(
      {values.unsqueeze(-1), steps, decays, all(selected[1]), all(selected[2])}, p("mixer.skip"));
  return linear(y.squeeze(-1) * at::silu(in[1]), p, "mixer.out");
}

Tensor short_convolution(const Tensor& x, const LayerParameters& p) {
  const std::vector<Tensor> in = linear(x, p, "mixer.in").chunk(3, -1);
  return linear(in[1] * convolved(in[0] * in[2], p), p, "mixer.out");
}

}  // namespace

Tensor mix_states(const model::ModelArchitecture& model, model::TokenMixer kind, const Tensor& x,
                  const LayerParameters& parameter) {
  switch (kind) {
    case model::TokenMixer::kDeltaNet: return delta_net(model, x, parameter);
    case model::TokenMixer::kMamba2: return mamba2(model, x, parameter);
    case model::TokenMixer::kMamba: return mamba(model, x, parameter);
    default: return short_convolution(x, parameter);
  }
}

}  // namespace stepwright::testing

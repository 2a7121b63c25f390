// RMSNorm and LayerNorm over rows, and RMSNorm over the heads of queries and keys.
#include "stepwright/runtime/kernels/kernels.h"

namespace stepwright {
namespace {

struct Normed {
  at::Tensor out;
  at::Tensor statistics;  ///< Of each row 1 / rms; LayerNorm: mean, 1 / deviation.
};

/// Over the last dimension of `x`, which is in the exact type.
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

at::ScalarType exact(const Call& call) { return scalar_type(call.rank.setting.exact); }

/// The heads of queries and keys in a row of queries, keys and values.
struct Heads {
  std::int64_t queries, keys, dim;
  explicit Heads(const Setting& s)
      : queries(s.heads()), keys(s.kv_heads()), dim(s.model->head_dim) {}
  [[nodiscard]] at::Tensor of_queries(const at::Tensor& rows) const {
    return rows.narrow(1, 0, queries * dim).view({rows.size(0), queries, dim});
  }
  [[nodiscard]] at::Tensor of_keys(const at::Tensor& rows) const {
    return rows.narrow(1, queries * dim, keys * dim).view({rows.size(0), keys, dim});
  }
};

void heads_forward(Call& call) {
  const Heads heads(call.rank.setting);
  const at::Tensor& x = call.read(0);
  const auto type = exact(call);
  const double epsilon = call.rank.setting.model->norm_epsilon;
  const Normed q =
      rms(heads.of_queries(x).to(type), call.weight("attention.q_norm").to(type), epsilon);
  const Normed k =
      rms(heads.of_keys(x).to(type), call.weight("attention.k_norm").to(type), epsilon);
  at::Tensor out = x.clone();
  heads.of_queries(out).copy_(q.out);
  heads.of_keys(out).copy_(k.out);
  call.write(0, std::move(out));
  call.write(1, at::cat({q.statistics, k.statistics}, 1).squeeze(-1));
}

void heads_backward(Call& call) {
  const Heads heads(call.rank.setting);
  const at::Tensor& dy = call.read(0);
  const at::Tensor& x = call.read(1);
  const at::Tensor scales = call.read(2).unsqueeze(-1);
  const auto type = exact(call);
  const Gradients q =
      rms_backward(heads.of_queries(dy).to(type), heads.of_queries(x).to(type),
                   scales.narrow(1, 0, heads.queries), call.weight("attention.q_norm").to(type));
  const Gradients k = rms_backward(heads.of_keys(dy).to(type), heads.of_keys(x).to(type),
                                   scales.narrow(1, heads.queries, heads.keys),
                                   call.weight("attention.k_norm").to(type));
  heads.of_queries(dy).copy_(q.input);
  heads.of_keys(dy).copy_(k.input);
  accumulate(call.gradient("attention.q_norm"), q.weight);
  accumulate(call.gradient("attention.k_norm"), k.weight);
  call.write(0, dy);
}

bool of_heads(const Call& call) { return call.op.purpose == Purpose::kHeadNorm; }

}  // namespace

void norm_forward(Call& call) {
  if (of_heads(call)) return heads_forward(call);
  const at::Tensor& x = call.read(0);
  const at::Tensor bias = call.bias();
  const auto type = exact(call);
  const Architecture& model = *call.rank.setting.model;
  const Normed y = model.norm == Norm::kLayer
                       ? layer(x.to(type), call.weight().to(type),
                               bias.defined() ? bias.to(type) : bias, model.norm_epsilon)
                       : rms(x.to(type), call.weight().to(type), model.norm_epsilon);
  call.write(0, y.out.to(x.scalar_type()));
  call.write(1, y.statistics);
}

void norm_backward_kernel(Call& call) {
  if (of_heads(call)) return heads_backward(call);
  const at::Tensor& dy = call.read(0);
  const auto type = exact(call);
  const at::Tensor x = call.read(1).to(type);
  const bool layered = call.rank.setting.model->norm == Norm::kLayer;
  const Gradients g = layered ? layer_backward(dy.to(type), x, call.read(2), call.weight().to(type))
                              : rms_backward(dy.to(type), x, call.read(2), call.weight().to(type));
  const at::Tensor dx = g.input.to(dy.scalar_type());
  call.write(0, call.has(3) ? dx + call.read(3) : dx);
  accumulate(call.gradient(), g.weight);
  const at::Tensor bias = call.bias_gradient();
  if (bias.defined()) accumulate(bias, g.bias);
}

}  // namespace stepwright

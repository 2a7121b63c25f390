#include "stepwright/runtime/kernels/attention_math.h"

#include <limits>
#include <optional>

namespace stepwright::runtime {
namespace {

/// Returns keys or values repeated to as many heads as the queries.
at::Tensor spread(const at::Tensor& t, std::int64_t heads) {
  const std::int64_t run = heads / t.size(1);
  return run == 1 ? t : t.repeat_interleave(run, 1);
}

/// Sums over the query heads that share a key head: the reverse of `spread`.
at::Tensor collect(const at::Tensor& t, std::int64_t heads) {
  const std::int64_t run = t.size(1) / heads;
  if (run == 1) return t;
  return t.view({t.size(0), heads, run, t.size(2), t.size(3)}).sum(2);
}

at::ScalarType wide_type(const at::Tensor& t) {
  return t.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
}

/// Returns which keys positions hide from queries [queries, keys].
at::Tensor hidden_by_position(const AttentionMask& mask) {
  const at::Tensor queries = mask.queries.unsqueeze(1);
  const at::Tensor keys = mask.keys.unsqueeze(0);
  const at::Tensor later = keys.gt(queries);
  if (mask.window == 0) return later;
  const at::Tensor beyond =
      mask.chunked ? at::floor_divide(queries, mask.window).ne(at::floor_divide(keys, mask.window))
                   : (queries - keys).ge(mask.window);
  return later.logical_or(beyond);
}

/// Returns the scores in a wide type, bounded by the cap.
at::Tensor scores_of(const AttentionInputs& in) {
  const auto type = wide_type(in.queries);
  const at::Tensor keys = spread(in.keys, in.queries.size(1)).to(type);
  at::Tensor scores = at::matmul(in.queries.to(type), keys.transpose(-1, -2)) * in.scale;
  return in.cap > 0 ? scores.div_(in.cap).tanh_().mul_(in.cap) : scores;
}

/// Returns the scores less ALiBi's slopes times distances.
at::Tensor biased(const AttentionInputs& in, const at::Tensor& scores) {
  if (!in.slopes.defined()) return scores;
  const at::Tensor before = in.mask.keys.unsqueeze(0) - in.mask.queries.unsqueeze(1);
  return scores + in.slopes.to(scores.scalar_type()).view({1, -1, 1, 1}) * before;
}

/// Returns the scores, with minus infinity where a query does not see a key.
at::Tensor masked(const AttentionInputs& in, const at::Tensor& scores) {
  return biased(in, scores)
      .masked_fill(masked_attention_keys(in.mask), -std::numeric_limits<double>::infinity());
}

/// True if PyTorch's fused CPU kernel covers an attention; otherwise, and on other devices,
/// products and a softmax run.
bool fused(const AttentionInputs& in) {
  return in.queries.is_cpu() && in.mask.whole && !in.mask.key_documents.defined() &&
         in.mask.window == 0 && !in.mask.chosen.defined() && in.cap == 0 && !in.slopes.defined() &&
         in.values.size(-1) == in.queries.size(-1) && !in.dropout.kept.defined();
}

/// Returns probabilities, or their gradients, after dropout.
at::Tensor dropped(const AttentionInputs& in, const at::Tensor& weights) {
  if (!in.dropout.kept.defined()) return weights;
  return (weights * in.dropout.kept).mul_(1 / (1 - in.dropout.probability));
}

AttentionGradients fused_backward(const AttentionInputs& in, const AttentionResult& result,
                                  const at::Tensor& d_out) {
  const std::int64_t heads = in.queries.size(1);
  auto [dq, dk, dv] = at::_scaled_dot_product_flash_attention_for_cpu_backward(
      d_out, in.queries, spread(in.keys, heads), spread(in.values, heads), result.out,
      result.log_sum_exp, 0.0, true, std::nullopt, in.scale);
  return {dq, collect(dk, in.keys.size(1)), collect(dv, in.values.size(1))};
}

/// Returns the keys that are not chosen: [batch, 1, queries, keys].
at::Tensor passed_over(const AttentionMask& mask) {
  const at::Tensor& chosen = mask.chosen;
  const at::Tensor all = at::ones({chosen.size(0), chosen.size(1), mask.keys.numel()},
                                  chosen.options().dtype(at::kBool));
  return all.scatter(2, chosen.to(at::kLong), false).unsqueeze(1);
}

}  // namespace

at::Tensor masked_attention_keys(const AttentionMask& mask) {
  at::Tensor hidden = hidden_by_position(mask);
  if (mask.key_documents.defined()) {
    const at::Tensor others = mask.query_documents.unsqueeze(2).ne(mask.key_documents.unsqueeze(1));
    hidden = hidden.logical_or(others).unsqueeze(1);
  }
  return mask.chosen.defined() ? hidden.logical_or(passed_over(mask)) : hidden;
}

AttentionResult compute_attention(const AttentionInputs& in) {
  const std::int64_t heads = in.queries.size(1);
  if (fused(in)) {
    auto [out, lse] = at::_scaled_dot_product_flash_attention_for_cpu(
        in.queries, spread(in.keys, heads), spread(in.values, heads), 0.0, true, std::nullopt,
        in.scale);
    return {out, lse};
  }
  const at::Tensor scores = masked(in, scores_of(in));
  const at::Tensor lse = at::logsumexp(scores, {-1});
  at::Tensor weights = at::exp(scores - lse.unsqueeze(-1));
  weights = weights.nan_to_num_(0);  // rows of queries that see no key
  const at::Tensor values = spread(in.values, heads).to(weights.scalar_type());
  return {at::matmul(dropped(in, weights), values).to(in.queries.scalar_type()), lse};
}

AttentionResult add_attention_sinks(const AttentionResult& result, const at::Tensor& sinks) {
  const at::Tensor lse =
      at::logaddexp(result.log_sum_exp, sinks.to(result.log_sum_exp.dtype()).view({1, -1, 1}));
  const at::Tensor share = at::exp(result.log_sum_exp - lse).unsqueeze(-1);
  return {(result.out * share).to(result.out.scalar_type()), lse};
}

at::Tensor attention_sinks_gradient(const AttentionResult& result, const at::Tensor& sinks,
                                    const at::Tensor& d_out) {
  const auto type = wide_type(d_out);
  const at::Tensor share = at::exp(sinks.to(type).view({1, -1, 1}) - result.log_sum_exp);
  const at::Tensor along = (d_out.to(type) * result.out.to(type)).sum(-1);
  return -(share * along).sum({0, 2});
}

AttentionResult merge_attention_results(const AttentionResult& a, const AttentionResult& b) {
  const at::Tensor lse = at::logaddexp(a.log_sum_exp, b.log_sum_exp);
  const auto share = [&](const AttentionResult& one) {
    return at::exp(one.log_sum_exp - lse).unsqueeze(-1) * one.out;
  };
  return {(share(a) + share(b)).to(a.out.scalar_type()), lse};
}

AttentionGradients compute_attention_gradients(const AttentionInputs& in,
                                               const AttentionResult& result,
                                               const at::Tensor& d_out) {
  if (fused(in)) return fused_backward(in, result, d_out);
  const std::int64_t heads = in.queries.size(1);
  const auto type = wide_type(in.queries);
  const at::Tensor scores = scores_of(in);
  const at::Tensor weights = at::exp(masked(in, scores) - result.log_sum_exp.unsqueeze(-1));
  const at::Tensor dy = d_out.to(type);
  const at::Tensor d_values = at::matmul(dropped(in, weights).transpose(-1, -2), dy);
  const at::Tensor d_weights =
      dropped(in, at::matmul(dy, spread(in.values, heads).to(type).transpose(-1, -2)));
  const at::Tensor along = (dy * result.out.to(type)).sum(-1, true);
  at::Tensor d_scores = weights * (d_weights - along) * in.scale;
  if (in.cap > 0) d_scores = d_scores * (1 - (scores / in.cap).square());
  const at::Tensor dq = at::matmul(d_scores, spread(in.keys, heads).to(type));
  const at::Tensor dk = at::matmul(d_scores.transpose(-1, -2), in.queries.to(type));
  const auto stored = in.queries.scalar_type();
  return {dq.to(stored), collect(dk, in.keys.size(1)).to(stored),
          collect(d_values, in.values.size(1)).to(stored)};
}

at::Tensor split_rows_into_heads(const at::Tensor& rows, std::int64_t batch, std::int64_t heads) {
  return rows.view({batch, -1, heads, rows.size(1) / heads}).transpose(1, 2);
}

at::Tensor join_heads_into_rows(const at::Tensor& heads) {
  const at::Tensor rows = heads.transpose(1, 2);
  return rows.reshape({heads.size(0) * heads.size(2), heads.size(1) * heads.size(3)});
}

}  // namespace stepwright::runtime

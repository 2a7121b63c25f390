#pragma once

#include <ATen/ATen.h>

#include <cstdint>

namespace stepwright::runtime {

/// The keys that a query sees: keys of its own document, at its position or before, within the
/// window.
struct AttentionMask {
  at::Tensor queries;  ///< Positions of the queries in their sequence, [queries].
  at::Tensor keys;     ///< Positions of the keys in their sequence, [keys].
  /// Number of positions that a query sees, its own included; 0: all earlier ones.
  std::int64_t window = 0;
  /// True if `window` cuts the positions into chunks that do not see each other.
  bool chunked = false;
  bool whole = false;  ///< True if queries and keys are one sequence in order.
  /// Document of each query, [batch, queries]; undefined: each sequence is one document.
  at::Tensor query_documents = {};
  at::Tensor key_documents = {};  ///< Document of each key, [batch, keys].
  /// Indices of the keys that an indexer chose for each query, [batch, queries, keys chosen];
  /// undefined: all keys.
  at::Tensor chosen = {};
};

/// The probabilities [batch, heads, queries, keys] that dropout keeps, and its probability.
struct AttentionDropout {
  at::Tensor kept;  ///< Kept probabilities; undefined: no dropout.
  double probability = 0;
};

/// Inputs of attention, [batch, heads, length, dim]; keys and values may have fewer heads than
/// queries, each used by consecutive query heads.
struct AttentionInputs {
  at::Tensor queries;
  at::Tensor keys;
  at::Tensor values;
  AttentionMask mask;
  AttentionDropout dropout;
  double scale = 1;  ///< Factor on the attention scores.
  double cap = 0;    ///< Bound of the scores, by a hyperbolic tangent; 0: not bounded.
  /// ALiBi's slopes [heads], which times the distance are subtracted from scores; undefined: none.
  at::Tensor slopes = {};
};

/// The result of an attention over some keys; `merge` combines two of them into the result over the
/// keys of both.
struct AttentionResult {
  at::Tensor out;          ///< Result of attention, [batch, heads, queries, value dim].
  at::Tensor log_sum_exp;  ///< Log of each query's sum of exponentials, [batch, heads, queries].
};

/// The gradients of an attention's inputs, in their shapes.
struct AttentionGradients {
  at::Tensor queries;
  at::Tensor keys;
  at::Tensor values;
};

/// Returns which keys a mask hides from each query: [queries, keys], or [batch, 1, queries, keys].
at::Tensor hidden_keys(const AttentionMask& mask);

/// Computes scaled dot-product attention. Queries that see no key get zeros and a `log_sum_exp` of
/// minus infinity. `log_sum_exp` counts all probabilities, dropped or not.
AttentionResult attend(const AttentionInputs& in);

/// Returns the attention with one more logit for each head (`sinks`, [heads]) in the softmax, of a
/// key without a value.
AttentionResult with_sinks(const AttentionResult& result, const at::Tensor& sinks);
/// Returns the gradient of these logits; `result` is the attention that includes them.
at::Tensor sinks_gradient(const AttentionResult& result, const at::Tensor& sinks,
                          const at::Tensor& d_out);

/// Returns the attention over the keys of both results.
AttentionResult merge(const AttentionResult& a, const AttentionResult& b);

/// Returns the gradients of an attention; `result` may cover more keys than `in` (as in a ring),
/// which then are a part of them.
AttentionGradients attend_backward(const AttentionInputs& in, const AttentionResult& result,
                                   const at::Tensor& d_out);

/// Convert rows [batch * length, heads * dim] to [batch, heads, length, dim] (`heads_of`), and back
/// (`rows_of`).
at::Tensor heads_of(const at::Tensor& rows, std::int64_t batch, std::int64_t heads);
at::Tensor rows_of(const at::Tensor& heads);

}  // namespace stepwright::runtime

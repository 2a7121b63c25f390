#pragma once

#include <ATen/ATen.h>

#include <cstdint>

namespace stepwright::runtime {

/// Which keys a query sees: those at its position or before, within the window, of its document.
struct AttentionMask {
  at::Tensor queries;       ///< Positions of queries, [queries].
  at::Tensor keys;          ///< Positions of keys, [keys].
  std::int64_t window = 0;  ///< Positions that a query sees, its own included; 0: all before.
  bool chunked = false;     ///< `window` cuts the positions into chunks that see none of another.
  bool whole = false;       ///< True if queries and keys are one sequence in order.
  at::Tensor query_documents = {};  ///< [batch, queries]; undefined: each sequence is one.
  at::Tensor key_documents = {};    ///< Document of each key, [batch, keys].
  /// Keys chosen for each query, [batch, queries, keys chosen]; undefined: all.
  at::Tensor chosen = {};
};

/// Which of the probabilities [batch, heads, queries, keys] dropout leaves, and its probability.
struct AttentionDropout {
  at::Tensor kept;  ///< Kept probabilities; undefined: no dropout.
  double probability = 0;
};

/// [batch, heads, length, dim]; keys and values may have fewer heads, each for a run of queries'.
struct AttentionInputs {
  at::Tensor queries;
  at::Tensor keys;
  at::Tensor values;
  AttentionMask mask;
  AttentionDropout dropout;
  double scale = 1;        ///< Factor on the scores.
  double cap = 0;          ///< Bound of the scores by a hyperbolic tangent; 0: none.
  at::Tensor slopes = {};  ///< ALiBi [heads]: of what distance takes from a score; undefined: none.
};

/// The result of an attention over some keys; two such merge into that over the keys of both.
struct AttentionResult {
  at::Tensor out;          ///< [batch, heads, queries, value dim].
  at::Tensor log_sum_exp;  ///< Log of each query's sum of exponentials, [batch, heads, queries].
};

/// The gradients of the inputs, in their shapes.
struct AttentionGradients {
  at::Tensor queries;
  at::Tensor keys;
  at::Tensor values;
};

/// Which keys a mask hides from each query: [queries, keys], or [batch, 1, queries, keys].
at::Tensor hidden_keys(const AttentionMask& mask);

/// Scaled dot-product attention. Queries that see no key get zeros and minus infinity. The log of
/// the sum is that of all probabilities, dropped or not.
AttentionResult attend(const AttentionInputs& in);

/// The attention with one more logit of each head [heads] in the softmax, of a key without a value.
AttentionResult with_sinks(const AttentionResult& result, const at::Tensor& sinks);
/// The gradient of those logits; `result` has them.
at::Tensor sinks_gradient(const AttentionResult& result, const at::Tensor& sinks,
                          const at::Tensor& d_out);

/// The attention over the keys of both.
AttentionResult merge(const AttentionResult& a, const AttentionResult& b);

/// Gradients of an attention; `result` may be that of more keys than these (a ring), of which they
/// are a part.
AttentionGradients attend_backward(const AttentionInputs& in, const AttentionResult& result,
                                   const at::Tensor& d_out);

/// Rows [batch * length, heads * dim] as [batch, heads, length, dim], and back.
at::Tensor heads_of(const at::Tensor& rows, std::int64_t batch, std::int64_t heads);
at::Tensor rows_of(const at::Tensor& heads);

}  // namespace stepwright::runtime

#pragma once

#include <ATen/ATen.h>

#include <cstdint>

namespace stepwright::runtime {

/// Which keys an attention query sees: keys of its own document, at its position or before it,
/// within the window.
struct AttentionMask {
  at::Tensor queries;  ///< Positions of the queries in their sequence, [queries].
  at::Tensor keys;     ///< Positions of the keys in their sequence, [keys].
  /// Number of positions that a query sees, including its own; 0: its own and all earlier ones.
  std::int64_t window = 0;
  /// True if `window` divides the sequence into chunks, and queries see only keys of their own
  /// chunk; false: a sliding window.
  bool chunked = false;
  bool whole = false;  ///< True if queries and keys are the same whole sequence, in order.
  /// Index of the document that each query belongs to, [batch, queries]; undefined: each sequence
  /// is one document.
  at::Tensor query_documents = {};
  /// Index of the document that each key belongs to, [batch, keys].
  at::Tensor key_documents = {};
  /// Indices of the keys that an indexer chose for each query, [batch, queries, keys chosen];
  /// undefined: all keys.
  at::Tensor chosen = {};
};

/// Dropout of attention probabilities, [batch, heads, queries, keys]: which are kept, and the
/// probability of dropping.
struct AttentionDropout {
  at::Tensor kept;  ///< True for each probability that is kept; undefined: no dropout.
  double probability = 0;
};

/// Inputs of attention, [batch, heads, length, dim]. Keys and values may have fewer heads than
/// queries; each key head then serves consecutive query heads.
struct AttentionInputs {
  at::Tensor queries;
  at::Tensor keys;
  at::Tensor values;
  AttentionMask mask;
  AttentionDropout dropout;
  double scale = 1;  ///< Factor by which attention scores are multiplied.
  double cap = 0;    ///< Limit of the absolute scores (soft-capping by tanh); 0: no limit.
  /// ALiBi slopes, [heads]: slope times distance is subtracted from each score; undefined: no
  /// ALiBi.
  at::Tensor slopes = {};
};

/// Attention output over a part of the keys, with what is needed to combine it with the output over
/// other keys (`merge_attention_results`).
struct AttentionResult {
  at::Tensor out;  ///< Attention output, [batch, heads, queries, value dim].
  /// Logarithm of the sum of exponentials of each query's scores, [batch, heads, queries].
  at::Tensor log_sum_exp;
};

/// Gradients of queries, keys and values of an attention, in the shapes of these inputs.
struct AttentionGradients {
  at::Tensor queries;
  at::Tensor keys;
  at::Tensor values;
};

/// Returns true for each key that a query must not see: [queries, keys], or [batch, 1, queries,
/// keys] if documents or chosen keys differ in the batch.
at::Tensor masked_attention_keys(const AttentionMask& mask);

/// Computes scaled dot-product attention. A query that sees no key gets zeros and a `log_sum_exp`
/// of minus infinity. Dropout does not change `log_sum_exp`.
AttentionResult compute_attention(const AttentionInputs& in);

/// Adds attention sinks to an attention: one more logit for each head (`sinks`, [heads]) enters the
/// softmax, for a key without a value.
AttentionResult add_attention_sinks(const AttentionResult& result, const at::Tensor& sinks);
/// Returns the gradient of the attention sinks ([heads]). `result`: the attention that includes
/// them.
at::Tensor attention_sinks_gradient(const AttentionResult& result, const at::Tensor& sinks,
                                    const at::Tensor& d_out);

/// Combines attentions of the same queries over two sets of keys into the attention over both sets.
AttentionResult merge_attention_results(const AttentionResult& a, const AttentionResult& b);

/// Returns the gradients of queries, keys and values. `result` may cover more keys than `in`, as in
/// ring attention; the gradients are then those of the keys in `in`.
AttentionGradients compute_attention_gradients(const AttentionInputs& in,
                                               const AttentionResult& result,
                                               const at::Tensor& d_out);

/// Converts activation rows [batch * length, heads * dim] to [batch, heads, length, dim].
at::Tensor split_rows_into_heads(const at::Tensor& rows, std::int64_t batch, std::int64_t heads);
/// Converts [batch, heads, length, dim] back to activation rows [batch * length, heads * dim].
at::Tensor join_heads_into_rows(const at::Tensor& heads);

}  // namespace stepwright::runtime

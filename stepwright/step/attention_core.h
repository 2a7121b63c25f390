#pragma once

#include "stepwright/step/emit.h"

namespace stepwright::step {

/// Number of query-key pairs that a layer's causal mask and window leave, for one head and one
/// whole sequence: the sum over positions i of min(i + 1, window), or of i + 1 within each chunk.
std::int64_t seen_pairs(std::int64_t length, const model::LayerClass& layer);
/// Mean number of query-key pairs of one sequence, per head: summed over the documents in it.
std::int64_t sequence_pairs(const Setting& s, const model::LayerClass& layer);

/// Elements per token of keys and values on this rank.
std::int64_t key_value_width(const Setting& s);
/// Elements per token of queries, keys and values on this rank.
std::int64_t query_key_value_width(const Setting& s);
/// Elements per token of queries, keys and values together, plus attention gates if the model has
/// them.
std::int64_t projected_width(const Setting& s);

/// Writes the attention core: from queries, keys and values [tokens, projected_width] to [tokens,
/// heads * value_dim], with the messages of any kind of context parallelism. Keeps what its
/// backward needs.
TensorId attention_core(Emit& e, TensorId qkv, const model::LayerClass& layer);
/// Writes the backward of the attention core and returns the gradient of `qkv`. With selective
/// recomputation the caller runs `attention_core` again first.
TensorId attention_core_backward(Emit& e, TensorId d_out, const model::LayerClass& layer);

/// The weights of attention sinks, and their gradients, as operands of the attention core; -1 if
/// the softmax has no sinks.
TensorId sink_weights(const Emit& e);
TensorId sink_gradients(const Emit& e);

/// Writes one attention over `shape` on this rank alone, fused or unfused, without messages.
TensorId local_attention(Emit& e, TensorId qkv, const Shape& shape);
TensorId local_attention_backward(Emit& e, TensorId d_out, TensorId qkv, TensorId out,
                                  const Shape& shape);
/// Sizes of an attention on this rank: `queries` and `keys` are tokens per sequence, `head_cut` the
/// ranks over which heads are divided, `pairs` the query-key pairs that the mask leaves.
Shape attention_shape(const Setting& s, std::int64_t queries, std::int64_t keys,
                      std::int64_t head_cut, std::int64_t pairs);

TensorId ring_attention(Emit& e, TensorId qkv, const model::LayerClass& layer);
TensorId ring_attention_backward(Emit& e, TensorId d_out, const model::LayerClass& layer);
TensorId gathered_attention(Emit& e, TensorId qkv, const model::LayerClass& layer);
TensorId gathered_attention_backward(Emit& e, TensorId d_out, const model::LayerClass& layer);
TensorId ulysses_attention(Emit& e, TensorId qkv, const model::LayerClass& layer);
TensorId ulysses_attention_backward(Emit& e, TensorId d_out, const model::LayerClass& layer);

}  // namespace stepwright::step

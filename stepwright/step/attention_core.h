#pragma once

#include "stepwright/step/emit.h"

namespace stepwright::step {

/// Query-key pairs of one head and one whole sequence that a causal mask and a layer's window
/// leave: the sum over positions i of min(i + 1, window), or of i + 1 in each chunk.
std::int64_t seen_pairs(std::int64_t length, const model::LayerClass& layer);
/// Query-key pairs of one sequence of a setting, in the mean: the sum over its documents.
std::int64_t sequence_pairs(const Setting& s, const model::LayerClass& layer);

/// Elements per token of keys and values on this rank.
std::int64_t key_value_width(const Setting& s);
/// Elements per token of queries, keys and values on this rank.
std::int64_t query_key_value_width(const Setting& s);
/// Width of queries, keys and values together; with attention gates, their width too.
std::int64_t projected_width(const Setting& s);

/// The attention core: from queries, keys and values [tokens, projected_width] to
/// [tokens, heads * value_dim], whatever the context parallelism. Keeps what its backward needs.
TensorId attention_core(Emit& e, TensorId qkv, const model::LayerClass& layer);
/// Gradient of `qkv`. With selective recomputation the caller runs `attention_core` again first.
TensorId attention_core_backward(Emit& e, TensorId d_out, const model::LayerClass& layer);

/// Operands of a core whose softmax has sinks: their weights, and their gradients; -1 without.
TensorId sink_weights(const Emit& e);
TensorId sink_gradients(const Emit& e);

/// One fused or unfused attention over `shape` without messages.
TensorId local_attention(Emit& e, TensorId qkv, const Shape& shape);
TensorId local_attention_backward(Emit& e, TensorId d_out, TensorId qkv, TensorId out,
                                  const Shape& shape);
/// Sizes of an attention of this rank: `queries` and `keys` tokens per sequence, heads divided by
/// `head_cut`.
Shape attention_shape(const Setting& s, std::int64_t queries, std::int64_t keys,
                      std::int64_t head_cut, std::int64_t pairs);

TensorId ring_attention(Emit& e, TensorId qkv, const model::LayerClass& layer);
TensorId ring_attention_backward(Emit& e, TensorId d_out, const model::LayerClass& layer);
TensorId gathered_attention(Emit& e, TensorId qkv, const model::LayerClass& layer);
TensorId gathered_attention_backward(Emit& e, TensorId d_out, const model::LayerClass& layer);
TensorId ulysses_attention(Emit& e, TensorId qkv, const model::LayerClass& layer);
TensorId ulysses_attention_backward(Emit& e, TensorId d_out, const model::LayerClass& layer);

}  // namespace stepwright::step

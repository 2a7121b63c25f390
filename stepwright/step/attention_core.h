#pragma once

#include "stepwright/step/block_build_context.h"

namespace stepwright::step {

/// Returns the number of query-key pairs that a layer's causal mask and window leave, for one head
/// and one whole sequence: the sum over positions i of min(i + 1, window), or of i + 1 within each
/// chunk.
std::int64_t unmasked_query_key_pairs(std::int64_t length, const model::LayerClass& layer);
/// Returns the mean number of query-key pairs that attention computes for one sequence and one
/// head: the sum over the documents packed into the sequence.
std::int64_t mean_sequence_query_key_pairs(const StepBuildSettings& s,
                                           const model::LayerClass& layer);

/// Returns the number of elements of keys and values together, for each token, on this
/// tensor-parallel rank.
std::int64_t key_value_width(const StepBuildSettings& s);
/// Returns the number of elements of queries, keys and values together, for each token, on this
/// tensor-parallel rank.
std::int64_t query_key_value_width(const StepBuildSettings& s);
/// Returns the number of elements of queries, keys and values together, plus attention gates if the
/// model has them, for each token on this tensor-parallel rank.
std::int64_t attention_projection_width(const StepBuildSettings& s);

/// Appends the operators of the attention core: from queries, keys and values [tokens,
/// projected_width] to [tokens, heads * value_dim], with the messages of the plan's context
/// parallelism. Keeps what the core's backward needs.
TensorId append_attention_core(ModelBlockBuildContext& e, TensorId qkv,
                               const model::LayerClass& layer);
/// Appends the operators of the attention core's backward and returns the gradient of `qkv`, the
/// queries, keys and values. With selective recomputation the caller appends
/// `append_attention_core` again first.
TensorId append_attention_core_backward(ModelBlockBuildContext& e, TensorId d_out,
                                        const model::LayerClass& layer);

/// Returns the tensor with the weights of the attention sinks, an operand of the attention core; -1
/// if the softmax has no sinks.
TensorId attention_sink_weights(const ModelBlockBuildContext& e);
/// Returns the tensor of the gradients of the attention sinks' weights; -1 if there is none.
TensorId attention_sink_gradients(const ModelBlockBuildContext& e);

/// Appends one attention with the sizes `shape`, fused or unfused, on this rank alone.
TensorId append_local_attention(ModelBlockBuildContext& e, TensorId qkv,
                                const OperatorShape& shape);
/// Appends the backward of an attention with the sizes `shape` on this rank alone.
TensorId append_local_attention_backward(ModelBlockBuildContext& e, TensorId d_out, TensorId qkv,
                                         TensorId out, const OperatorShape& shape);
/// Returns the sizes of an attention on this rank: `queries` and `keys` are tokens per sequence,
/// `head_cut` the number of ranks over which heads are divided, `pairs` the query-key pairs per
/// head and sequence that the mask leaves.
OperatorShape attention_operator_shape(const StepBuildSettings& s, std::int64_t queries,
                                       std::int64_t keys, std::int64_t head_cut,
                                       std::int64_t pairs);

TensorId ring_attention(ModelBlockBuildContext& e, TensorId qkv, const model::LayerClass& layer);
TensorId ring_attention_backward(ModelBlockBuildContext& e, TensorId d_out,
                                 const model::LayerClass& layer);
TensorId gathered_attention(ModelBlockBuildContext& e, TensorId qkv,
                            const model::LayerClass& layer);
TensorId gathered_attention_backward(ModelBlockBuildContext& e, TensorId d_out,
                                     const model::LayerClass& layer);
TensorId ulysses_attention(ModelBlockBuildContext& e, TensorId qkv, const model::LayerClass& layer);
TensorId ulysses_attention_backward(ModelBlockBuildContext& e, TensorId d_out,
                                    const model::LayerClass& layer);

}  // namespace stepwright::step

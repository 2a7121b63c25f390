#pragma once

#include <string_view>
#include <vector>

#include "stepwright/runtime/rank/call.h"

namespace stepwright::runtime {

/// Widths of matrices that are joined into one, in columns if they lie side by side in an
/// activation, in rows if they lie one below the other in a parameter.
using PartSizes = std::vector<std::int64_t>;

/// Sizes of a state-space or linear-attention layer on one rank: the heads that remain after tensor
/// and context parallelism, for whole sequences.
struct MixerLayerSizes {
  model::TokenMixer kind{};
  /// Number of context-parallel ranks that share the heads of a tensor-parallel rank.
  std::int64_t ranks = 1;
  std::int64_t heads = 0;
  std::int64_t head_dim = 0;
  /// Number of heads of keys and queries in this layer on this rank.
  std::int64_t groups = 0;
  std::int64_t state = 0;

  [[nodiscard]] std::int64_t values() const { return heads * head_dim; }
  [[nodiscard]] std::int64_t keys() const { return groups * state; }
  /// Returns the column widths of the parts that the layer's input projection computes side by
  /// side: keys, queries, values, gates and others, in the order of `layer_parameters`.
  [[nodiscard]] PartSizes input_projection_part_widths() const;
  /// Returns the numbers of channels of the matrices on which the layer's convolution works, in
  /// order.
  [[nodiscard]] PartSizes convolution_channel_counts() const;
  /// Returns the column of the input projection's result at which the convolution's input begins.
  [[nodiscard]] std::int64_t convolution_input_first_column() const;
  /// Returns the column of the input projection's result at which the output gates begin.
  [[nodiscard]] std::int64_t gates_first_column() const;
  /// Returns the column of the input projection's result at which the numbers of each head (such as
  /// its decay) begin.
  [[nodiscard]] std::int64_t head_scalars_first_column() const;
};
MixerLayerSizes mixer_parts(const RankState& rank, model::TokenMixer kind);

/// Returns the column (or row) indices that context-parallel rank `rank` uses in a tensor of its
/// tensor-parallel rank: a run of each joined part. `sizes`: width of each part on one
/// context-parallel rank. With one context-parallel rank: all indices.
at::Tensor context_rank_column_indices(const MixerLayerSizes& parts, const PartSizes& sizes,
                                       std::int64_t rank, const at::TensorOptions& indices);

/// Returns this rank's part of a parameter of the block, converted to the type of statistics (FP32
/// or FP64); undefined if the block has no parameter of this name.
at::Tensor parameter_part_on_this_rank(const KernelCall& call, const MixerLayerSizes& parts,
                                       std::string_view name, const PartSizes& sizes);
/// Adds `gradient` to this rank's part of the gradient of a parameter of the block.
void add_to_rank_gradient(const KernelCall& call, const MixerLayerSizes& parts,
                          std::string_view name, const PartSizes& sizes,
                          const at::Tensor& gradient);

/// Converts `count` columns of rows [batch * length, columns], from column `first`, to [batch,
/// length, heads, count / heads] in the type of statistics (FP32 or FP64).
at::Tensor split_columns_by_head(const KernelCall& call, const at::Tensor& rows, std::int64_t first,
                                 std::int64_t count, std::int64_t heads);
/// Converts [batch, length, heads, width] to rows [batch * length, heads * width] in the type of
/// `like`.
at::Tensor as_rows(const at::Tensor& heads, const at::Tensor& like);

}  // namespace stepwright::runtime

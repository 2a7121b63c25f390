#pragma once

#include <cstdint>
#include <vector>

#include "stepwright/runtime/rank/call.h"

namespace stepwright::runtime {

// The buffer of a message about states is a matrix with one row for each rank of the group; the
// blocks of its parameters lie side by side in a row. A message is sent in pieces, each a run of
// columns, so that buckets of any size cut the same shards. All functions below send the number of
// pieces of the call's operator, and fail with `kRuntime` when these do not cover the buffer.

/// Arranges a padded flat tensor as a matrix [ranks, columns] for a message, with one row for each
/// rank's shard. For a group of all data-parallel ranks, the stored order (by position in a
/// sharding group) becomes rank order.
at::Tensor shards_as_rows(const KernelCall& call, const StateShardingLayout& layout,
                          const at::Tensor& flat, std::int64_t ranks);

/// Returns, for each rank of a group, the elements of a flat tensor that it holds: its shard, or
/// everything for the rank that owns the whole tensor.
std::vector<at::Tensor> shard_of_each_rank(const KernelCall& call,
                                           const StateShardingLayout& layout,
                                           const at::Tensor& flat, std::int64_t ranks);

/// Copies a matrix [ranks, columns] that a collective returned into a flat tensor in the order in
/// which ranks store shards: the reverse of `shards_as_rows`.
void store_rows_as_shards(const KernelCall& call, const StateShardingLayout& layout,
                          const at::Tensor& rows, const at::Tensor& flat);

/// Sums a matrix [ranks, columns] over the ranks of the operator's group, and returns row r of the
/// sum on rank r.
at::Tensor reduce_scatter_columns(KernelCall& call, const at::Tensor& matrix);

/// Gathers a vector [columns] from each rank of the operator's group into a matrix [ranks,
/// columns].
at::Tensor all_gather_columns(KernelCall& call, const at::Tensor& own);

/// Sums several flat tensors over the ranks of the operator's group, in place, by one message.
void all_reduce_joined_tensors(KernelCall& call, const std::vector<at::Tensor>& tensors);

}  // namespace stepwright::runtime

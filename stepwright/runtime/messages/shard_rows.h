#pragma once

#include <cstdint>
#include <vector>

#include "stepwright/runtime/rank/call.h"

namespace stepwright::runtime {

// The buffer of a message about states is a matrix, one row per rank of the group, in which the
// blocks of its parameters stand side by side; the pieces of a message are runs of columns, so
// buckets of any size cut the same shards. All of these send the pieces that the call's operator
// says, and fail with `kRuntime` when those do not cover what there is to send.

/// Blocks of a flat tensor as rows of a group: shard-major as stored, rank-major for collectives
/// over all ranks.
at::Tensor rows_for(const Call& call, const StateLayout& layout, const at::Tensor& flat,
                    std::int64_t ranks);

/// Elements that each rank of a group has of a flat tensor: its row, or its owner all of it.
std::vector<at::Tensor> shares_for(const Call& call, const StateLayout& layout,
                                   const at::Tensor& flat, std::int64_t ranks);

/// The reverse: rows as they came from a collective into a flat tensor.
void store_rows(const Call& call, const StateLayout& layout, const at::Tensor& rows,
                const at::Tensor& flat);

/// [ranks, columns] summed over the ranks, of which this one's row comes back.
at::Tensor reduce_scatter_columns(Call& call, const at::Tensor& matrix);

/// The rows of all ranks: [ranks, columns] from each rank's own [columns].
at::Tensor all_gather_columns(Call& call, const at::Tensor& own);

/// Flat tensors summed over the ranks in place, side by side in one buffer.
void all_reduce_flat(Call& call, const std::vector<at::Tensor>& tensors);

}  // namespace stepwright::runtime

#pragma once

#include <cstdint>
#include <vector>

#include "stepwright/runtime/rank/call.h"

namespace stepwright::runtime {

// The buffer of a message about states is a matrix with one row for each rank of the group; the
// blocks of its parameters lie side by side in a row. A message is sent in pieces, each a run of
// columns, so that buckets of any size cut the same shards. All functions below send the number of
// pieces of the call's operator, and fail with `kRuntime` when these do not cover the buffer.

/// Returns the blocks of a flat tensor as rows of a group: shard-major as stored, rank-major for
/// collectives over all ranks.
at::Tensor rows_for(const Call& call, const StateLayout& layout, const at::Tensor& flat,
                    std::int64_t ranks);

/// Returns the elements of a flat tensor that each rank of a group has: its row, or everything if
/// it owns the tensor.
std::vector<at::Tensor> shares_for(const Call& call, const StateLayout& layout,
                                   const at::Tensor& flat, std::int64_t ranks);

/// Copies rows, as a collective returned them, into a flat tensor: the reverse of `rows_for`.
void store_rows(const Call& call, const StateLayout& layout, const at::Tensor& rows,
                const at::Tensor& flat);

/// Sums [ranks, columns] over the ranks and returns this rank's row.
at::Tensor reduce_scatter_columns(Call& call, const at::Tensor& matrix);

/// Gathers each rank's own [columns] into [ranks, columns].
at::Tensor all_gather_columns(Call& call, const at::Tensor& own);

/// Sums flat tensors over the ranks in place, together in one buffer.
void all_reduce_flat(Call& call, const std::vector<at::Tensor>& tensors);

}  // namespace stepwright::runtime

#include "stepwright/runtime/messages/shard_rows.h"

#include <fmt/format.h>

#include <algorithm>

#include "stepwright/core/error.h"
#include "stepwright/runtime/messages/groups.h"

namespace stepwright::runtime {
namespace {

bool of_all_ranks(plan::CommunicatorKind group) {
  return group == plan::CommunicatorKind::kDataContext ||
         group == plan::CommunicatorKind::kExpertData;
}

/// Returns the columns [begin, begin + width) of a matrix, with zeros beyond its end.
at::Tensor piece_of(const at::Tensor& matrix, std::int64_t begin, std::int64_t width) {
  const std::int64_t end = std::min(begin + width, matrix.size(1));
  if (end - begin == width) return matrix.narrow(1, begin, width).contiguous();
  at::Tensor piece = at::zeros({matrix.size(0), width}, matrix.options());
  if (end > begin) piece.narrow(1, 0, end - begin).copy_(matrix.narrow(1, begin, end - begin));
  return piece;
}

/// Fails unless the pieces of a message cover all columns.
void check_cover(const KernelCall& call, std::int64_t width, std::int64_t columns) {
  const std::int64_t covered = width * call.op.repeats;
  if (covered >= columns && covered - columns < call.op.repeats) return;
  throw Error(ErrorKind::kRuntime, fmt::format("{}: has {} columns, but the program sends {}",
                                               call.op.name, columns, covered));
}

/// Returns flat tensors as one tensor if they are contiguous in one storage; else undefined.
at::Tensor as_they_lie(const std::vector<at::Tensor>& tensors) {
  const at::Tensor& first = tensors.front();
  std::int64_t elements = 0;
  for (const at::Tensor& tensor : tensors) {
    const bool follows = tensor.is_alias_of(first) && tensor.is_contiguous() &&
                         tensor.storage_offset() == first.storage_offset() + elements;
    if (!follows) return {};
    elements += tensor.numel();
  }
  return first.as_strided({elements}, {1});
}

/// Sums a buffer over the ranks in place, piece by piece.
void all_reduce_pieces(KernelCall& call, const at::Tensor& joined) {
  const std::int64_t width = call.op.payload_elements;
  check_cover(call, width, joined.numel());
  for (std::int32_t i = 0; i < call.op.repeats; ++i) {
    at::Tensor piece = piece_of(joined.view({1, -1}), i * width, width).view({-1});
    call.rank.groups.communicator_of_operator(call.op).all_reduce(call.op, piece);
    // only the last piece, with zeros beyond the end, is a copy
    if (piece.is_alias_of(joined)) continue;
    const std::int64_t begin = std::min(i * width, joined.numel());
    joined.narrow(0, begin, joined.numel() - begin)
        .copy_(piece.narrow(0, 0, joined.numel() - begin));
  }
}

}  // namespace

at::Tensor shards_as_rows(const KernelCall& call, const StateShardingLayout& layout,
                          const at::Tensor& flat, std::int64_t ranks) {
  if (!of_all_ranks(call.op.group)) return flat.view({ranks, -1});
  return flat.view({layout.inner, layout.outer, -1}).transpose(0, 1).reshape({ranks, -1});
}

std::vector<at::Tensor> shard_of_each_rank(const KernelCall& call,
                                           const StateShardingLayout& layout,
                                           const at::Tensor& flat, std::int64_t ranks) {
  if (!layout.owner) return shards_as_rows(call, layout, flat, ranks).unbind(0);
  std::vector<at::Tensor> shares(static_cast<std::size_t>(ranks), flat.narrow(0, 0, 0));
  shares[static_cast<std::size_t>(*layout.owner)] = flat;
  return shares;
}

void store_rows_as_shards(const KernelCall& call, const StateShardingLayout& layout,
                          const at::Tensor& rows, const at::Tensor& flat) {
  if (!of_all_ranks(call.op.group)) {
    flat.copy_(rows.reshape({-1}));
    return;
  }
  const at::Tensor blocks = rows.reshape({layout.outer, layout.inner, -1}).transpose(0, 1);
  flat.view(blocks.sizes()).copy_(blocks);
}

at::Tensor reduce_scatter_columns(KernelCall& call, const at::Tensor& matrix) {
  Communicator& group = call.rank.groups.communicator_of_operator(call.op);
  const std::int64_t width = call.op.payload_elements / group.size();
  check_cover(call, width, matrix.size(1));
  at::Tensor own = at::empty({width * call.op.repeats}, matrix.options());
  for (std::int32_t i = 0; i < call.op.repeats; ++i) {
    at::Tensor part = own.narrow(0, i * width, width);
    group.reduce_scatter(call.op, part, piece_of(matrix, i * width, width).view({-1}));
  }
  return own;
}

at::Tensor all_gather_columns(KernelCall& call, const at::Tensor& own) {
  Communicator& group = call.rank.groups.communicator_of_operator(call.op);
  const std::int64_t width = call.op.payload_elements / group.size();
  check_cover(call, width, own.numel());
  at::Tensor all = at::empty({call.op.repeats, group.size(), width}, own.options());
  for (std::int32_t i = 0; i < call.op.repeats; ++i) {
    at::Tensor whole = all[i].view({-1});
    group.all_gather(call.op, whole, piece_of(own.view({1, -1}), i * width, width).view({-1}));
  }
  return all.transpose(0, 1).reshape({group.size(), -1});
}

void all_reduce_joined_tensors(KernelCall& call, const std::vector<at::Tensor>& tensors) {
  const at::Tensor in_place = as_they_lie(tensors);
  if (in_place.defined()) return all_reduce_pieces(call, in_place);
  const at::Tensor joined = at::cat(tensors);
  all_reduce_pieces(call, joined);
  std::int64_t begin = 0;
  for (const at::Tensor& tensor : tensors) {
    tensor.copy_(joined.narrow(0, begin, tensor.numel()));
    begin += tensor.numel();
  }
}

}  // namespace stepwright::runtime

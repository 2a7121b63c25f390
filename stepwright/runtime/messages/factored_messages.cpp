// Messages of an update that keeps sums of rows and columns of matrices (kernels/adafactor.h).
#include "stepwright/runtime/kernels/adafactor.h"
#include "stepwright/runtime/messages/groups.h"
#include "stepwright/runtime/messages/messages.h"
#include "stepwright/runtime/messages/shard_rows.h"

namespace stepwright {
namespace {

bool of_tensor_ranks(GroupKind group) {
  return group == GroupKind::kTensor || group == GroupKind::kExpertTensor;
}

std::vector<StoredParameter*> matrices_of_kind(RankState& rank, bool expert) {
  std::vector<StoredParameter*> list = own_of_kind(rank, expert);
  std::erase_if(list, [](const StoredParameter* p) { return !p->sums; });
  return list;
}

/// Those of the dimension that tensor ranks do not cut, of which each has seen a part.
void share_uncut_sums(Call& call) {
  const bool expert = is_of_experts(call.op.group);
  const FactoredStep& step = with_sums(call.rank, expert);
  std::vector<at::Tensor> shared;
  std::size_t i = 0;
  for (const StoredParameter* p : matrices_of_kind(call.rank, expert)) {
    const at::Tensor& sums = step.sums[i++];
    if (p->slice.cut == Split::kReplicated) continue;
    const std::int64_t edges = p->sums->slice.local_rows;
    const std::int64_t rows = p->slice.local_rows;
    const bool of_rows = p->slice.cut == Split::kRow;
    for (std::int64_t copy = 0; copy < p->slice.local_copies; ++copy) {
      const std::int64_t first = copy * edges + (of_rows ? 0 : rows);
      shared.push_back(sums.narrow(0, first, of_rows ? rows : edges - rows));
    }
  }
  all_reduce_flat(call, shared);
}

void scatter_sums(Call& call) {
  const bool expert = is_of_experts(call.op.group);
  FactoredStep& step = with_sums(call.rank, expert);
  const StateLayout& layout = call.rank.store.layout(expert);
  const std::int64_t ranks = call.rank.groups.of(call.op).size();
  std::vector<at::Tensor> rows;
  for (const at::Tensor& sums : step.sums) rows.push_back(rows_for(call, layout, sums, ranks));
  const at::Tensor own = reduce_scatter_columns(call, at::cat(rows, 1));
  std::int64_t column = 0;
  for (at::Tensor& part : step.own) {
    part = own.narrow(0, column, part.numel());
    column += part.numel();
  }
}

void gather_moments(Call& call) {
  const bool expert = is_of_experts(call.op.group);
  FactoredStep& step = with_moments(call.rank, expert);
  const StateLayout& layout = call.rank.store.layout(expert);
  const at::Tensor rows = all_gather_columns(call, at::cat(step.moments));
  std::int64_t column = 0;
  for (std::size_t i = 0; i < step.moments.size(); ++i) {
    const std::int64_t width = step.moments[i].numel();
    step.moments[i] = at::empty_like(step.sums[i]);
    store_rows(call, layout, rows.narrow(1, column, width), step.moments[i]);
    column += width;
  }
}

void share_squares(Call& call) {
  const bool expert = is_of_experts(call.op.group);
  const FactoredStep& step = with_squares(call.rank, expert);
  std::vector<at::Tensor> shared;
  std::int64_t first = 0;
  for (const StoredParameter* p : own_of_kind(call.rank, expert)) {
    const std::int64_t count = updates_in(*p);
    const bool whole = of_tensor_ranks(call.op.group) && p->slice.cut == Split::kReplicated;
    if (!whole) shared.push_back(step.squares.narrow(0, first, count));
    first += count;
  }
  all_reduce_flat(call, shared);
}

}  // namespace

void run_factored_message(Call& call) {
  switch (call.op.purpose) {
    case Purpose::kGatherMoments: return gather_moments(call);
    case Purpose::kShareSquares: return share_squares(call);
    default: return of_tensor_ranks(call.op.group) ? share_uncut_sums(call) : scatter_sums(call);
  }
}

}  // namespace stepwright

// Messages of an update that keeps sums of rows and columns of matrices (kernels/adafactor.h).
#include "stepwright/runtime/kernels/adafactor.h"
#include "stepwright/runtime/messages/groups.h"
#include "stepwright/runtime/messages/messages.h"
#include "stepwright/runtime/messages/shard_rows.h"

namespace stepwright::runtime {
namespace {

bool of_tensor_ranks(plan::CommunicatorKind group) {
  return group == plan::CommunicatorKind::kTensor || group == plan::CommunicatorKind::kExpertTensor;
}

/// Sums, over tensor ranks, the sums along the dimension that they do not cut: each has seen a
/// part.
void share_uncut_sums(KernelCall& call) {
  const bool expert = plan::is_expert_communicator(call.op.group);
  const AdafactorProgress& step = compute_row_column_means(call.rank, expert);
  std::vector<at::Tensor> shared;
  for (const StoredParameter* p : trained_matrices_of_kind(call.rank, expert)) {
    const at::Tensor& sums = step.sums.at(p);
    if (p->slice.cut == model::TensorParallelSplit::kReplicated) continue;
    const std::int64_t edges = p->sums->slice.local_rows;
    const std::int64_t rows = p->slice.local_rows;
    const bool of_rows = p->slice.cut == model::TensorParallelSplit::kRow;
    for (std::int64_t copy = 0; copy < p->slice.local_copies; ++copy) {
      const std::int64_t first = copy * edges + (of_rows ? 0 : rows);
      shared.push_back(sums.narrow(0, first, of_rows ? rows : edges - rows));
    }
  }
  all_reduce_joined_tensors(call, shared);
}

void scatter_sums(KernelCall& call) {
  const bool expert = plan::is_expert_communicator(call.op.group);
  AdafactorProgress& step = compute_row_column_means(call.rank, expert);
  const std::int64_t ranks = call.rank.groups.communicator_of_operator(call.op).size();
  const auto matrices = trained_matrices_of_kind(call.rank, expert);
  std::vector<at::Tensor> rows;
  for (const StoredParameter* p : matrices) {
    rows.push_back(shards_as_rows(call, *p->layout, step.sums.at(p), ranks));
  }
  const at::Tensor own = reduce_scatter_columns(call, at::cat(rows, 1));
  std::int64_t column = 0;
  for (const StoredParameter* p : matrices) {
    at::Tensor& part = step.own.at(p);
    part = own.narrow(0, column, part.numel());
    column += part.numel();
  }
}

void gather_moments(KernelCall& call) {
  const bool expert = plan::is_expert_communicator(call.op.group);
  AdafactorProgress& step = update_row_column_moments(call.rank, expert);
  const auto matrices = trained_matrices_of_kind(call.rank, expert);
  std::vector<at::Tensor> own;
  for (const StoredParameter* p : matrices) own.push_back(step.moments.at(p));
  const at::Tensor rows = all_gather_columns(call, at::cat(own));
  std::int64_t column = 0;
  for (const StoredParameter* p : matrices) {
    at::Tensor& moments = step.moments.at(p);
    const std::int64_t width = moments.numel();
    moments = at::empty_like(step.sums.at(p));
    store_rows_as_shards(call, *p->layout, rows.narrow(1, column, width), moments);
    column += width;
  }
}

void share_squares(KernelCall& call) {
  const bool expert = plan::is_expert_communicator(call.op.group);
  const AdafactorProgress& step = compute_update_square_sums(call.rank, expert);
  std::vector<at::Tensor> shared;
  for (const StoredParameter* p : trained_parameters_of_kind(call.rank, expert)) {
    const bool whole =
        of_tensor_ranks(call.op.group) && p->slice.cut == model::TensorParallelSplit::kReplicated;
    if (!whole) shared.push_back(step.squares.at(p));
  }
  all_reduce_joined_tensors(call, shared);
}

}  // namespace

void run_adafactor_message(KernelCall& call) {
  switch (call.op.purpose) {
    case step::OperatorPurpose::kGatherMoments: return gather_moments(call);
    case step::OperatorPurpose::kShareSquares: return share_squares(call);
    default: return of_tensor_ranks(call.op.group) ? share_uncut_sums(call) : scatter_sums(call);
  }
}

}  // namespace stepwright::runtime

// Kernels that copy rows into another order: this rank's tokens by expert, arrived rows by this
// rank's experts, and these back to the order of arrival. A third operand is multiplied with the
// copies or, if there is a second result, reordered like them.
#include "stepwright/runtime/kernels/expert_row_exchange.h"
#include "stepwright/runtime/kernels/kernels.h"

namespace stepwright::runtime {
namespace {

/// The order of copies: indices of rows, and of the numbers that belong to them.
struct Order {
  at::Tensor rows;
  /// Indices into the flattened numbers; undefined: these are in order already.
  at::Tensor numbers;
};

Order order_of(const KernelCall& call) {
  const at::Tensor& where = call.read_operand(1);
  const bool own = call.op.purpose == step::OperatorPurpose::kOwnCopies;
  if (own || exchanges_tokens_by_all_gather(call.rank.setting)) {
    const at::Tensor copies =
        own ? sort_routed_copies_by_expert(where) : token_copies_for_own_experts(call.rank, where);
    return {at::floor_divide(copies, where.size(1)), copies};
  }
  const at::Tensor sorted =
      ExpertRowExchange(call.rank, where).permutation_sorting_rows_by_expert().to(where.device());
  if (call.op.purpose == step::OperatorPurpose::kSortArrived) return {sorted, {}};
  at::Tensor back = at::empty_like(sorted);
  back.index_copy_(0, sorted, at::arange(sorted.size(0), sorted.options().dtype(at::kLong)));
  return {back, {}};
}

}  // namespace

void permute_rows(KernelCall& call) {
  const Order permutation_sorting_rows_by_expert = order_of(call);
  const at::Tensor rows =
      call.read_operand(0).index_select(0, permutation_sorting_rows_by_expert.rows);
  if (!call.has_operand(2)) return call.write_result(0, rows);
  at::Tensor numbers = call.read_operand(2).reshape({-1});
  if (permutation_sorting_rows_by_expert.numbers.defined())
    numbers = numbers.index_select(0, permutation_sorting_rows_by_expert.numbers);
  numbers = numbers.unsqueeze(1);
  if (call.writes.size() == 1) {
    return call.write_result(0, (rows * numbers).to(rows.scalar_type()));
  }
  call.write_result(0, rows);
  call.write_result(1, numbers);
}

}  // namespace stepwright::runtime

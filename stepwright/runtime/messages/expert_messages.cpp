// Messages about routed rows: exchanges in which each pair of ranks has its own number of rows, and
// gathers and reductions among the ranks that share an expert, padded to the rank with most rows.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "stepwright/core/error.h"
#include "stepwright/runtime/kernels/expert_row_exchange.h"
#include "stepwright/runtime/messages/groups.h"
#include "stepwright/runtime/messages/messages.h"

namespace stepwright::runtime {
namespace {

std::int64_t sum(const std::vector<std::int64_t>& rows) {
  return std::accumulate(rows.begin(), rows.end(), std::int64_t{0});
}

at::Tensor rows_like(const at::Tensor& rows, std::int64_t count) {
  return at::empty({count, rows.size(1)}, rows.options());
}

/// Fails if the number of rows differs from the announced one: they would reach the wrong place.
void check_rows(const step::Operator& op, const at::Tensor& rows, std::int64_t expected) {
  if (rows.size(0) == expected) return;
  throw Error(ErrorKind::kRuntime, fmt::format("{}: {} rows arrived, but {} were announced",
                                               op.name, rows.size(0), expected));
}

void exchange_rows(KernelCall& call, const ExpertRowExchange& where) {
  const at::Tensor sent = call.read_operand(0).contiguous();
  Communicator::AllToAllRowCounts splits{where.sent_row_counts(), where.received_row_counts()};
  if (call.op.purpose == step::OperatorPurpose::kFromExperts)
    std::swap(splits.sent, splits.received);
  check_rows(call.op, sent, sum(splits.sent));
  at::Tensor received = rows_like(sent, sum(splits.received));
  call.rank.groups.communicator_of_operator(call.op).all_to_all(call.op, received, sent,
                                                                std::move(splits));
  call.write_result(0, std::move(received));
}

/// Splits rows by rank; `counts`: rows of each rank.
std::vector<at::Tensor> parts_of(const at::Tensor& rows, const std::vector<std::int64_t>& counts) {
  return rows.split_with_sizes(counts, 0);
}

void gather_taken(KernelCall& call, const ExpertRowExchange& where) {
  const std::vector<std::int64_t> counts = where.received_row_counts_of_expert_tensor_ranks();
  const std::int64_t most = *std::ranges::max_element(counts);
  const at::Tensor& own = call.read_operand(0);
  check_rows(call.op, own, counts[static_cast<std::size_t>(call.rank.place.expert_tensor)]);
  at::Tensor padded = at::zeros({most, own.size(1)}, own.options());
  padded.narrow(0, 0, own.size(0)).copy_(own);
  at::Tensor whole = rows_like(own, most * std::ssize(counts));
  call.rank.groups.communicator_of_operator(call.op).all_gather(call.op, whole, padded);
  std::vector<at::Tensor> parts;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    parts.push_back(whole.narrow(0, static_cast<std::int64_t>(i) * most, counts[i]));
  }
  call.write_result(0, at::cat(parts));
}

void scatter_taken(KernelCall& call, const ExpertRowExchange& where) {
  const std::vector<std::int64_t> counts = where.received_row_counts_of_expert_tensor_ranks();
  const std::int64_t most = *std::ranges::max_element(counts);
  const at::Tensor& rows = call.read_operand(0);
  check_rows(call.op, rows, sum(counts));
  at::Tensor padded = at::zeros({most * std::ssize(counts), rows.size(1)}, rows.options());
  const std::vector<at::Tensor> parts = parts_of(rows, counts);
  for (std::size_t i = 0; i < counts.size(); ++i) {
    padded.narrow(0, static_cast<std::int64_t>(i) * most, counts[i]).copy_(parts[i]);
  }
  at::Tensor own = rows_like(rows, most);
  call.rank.groups.communicator_of_operator(call.op).reduce_scatter(call.op, own, padded);
  const std::int64_t count = counts[static_cast<std::size_t>(call.rank.place.expert_tensor)];
  call.write_result(0, own.narrow(0, 0, count).contiguous());
}

}  // namespace

void run_expert_message(KernelCall& call) {
  const ExpertRowExchange where(call.rank, call.read_operand(1));
  switch (call.op.kind) {
    case step::OperatorKind::kAllToAll: return exchange_rows(call, where);
    case step::OperatorKind::kAllGather: return gather_taken(call, where);
    case step::OperatorKind::kReduceScatter: return scatter_taken(call, where);
    default: break;
  }
  throw Error(ErrorKind::kUnsupported,
              fmt::format("{}: no {} of routed rows is executed yet", call.op.name,
                          name_of(step::kOperatorNames, call.op.kind)));
}

}  // namespace stepwright::runtime

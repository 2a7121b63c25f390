#include "stepwright/traffic/ledger.h"

#include <fmt/format.h>

#include <bit>
#include <string>
#include <tuple>

#include "stepwright/core/error.h"

namespace stepwright::traffic {
namespace {

using Row = std::tuple<step::ParallelismScheme, step::Phase, step::OperatorKind,
                       plan::CommunicatorKind, std::int64_t, std::int64_t>;

struct Amount {
  std::int64_t count = 0;
  double sent_bytes_per_rank = 0;
};
using Rows = std::map<Row, Amount>;

void add_stage(Rows& rows, const std::vector<StageCommunicationCall>& calls, std::int64_t ranks) {
  for (const StageCommunicationCall& call : calls) {
    const step::Operator& op = *call.op;
    const step::Phase phase =
        op.phase == step::Phase::kWeightGradient ? step::Phase::kDataGradient : op.phase;
    Amount& amount =
        rows[{op.scheme, phase, op.kind, op.group, call.group_size, op.payload_bytes()}];
    amount.count += call.count * ranks;
    amount.sent_bytes_per_rank = sent_bytes(call);
  }
}

TrafficLedgerRow message(const Row& row, const Amount& amount) {
  const auto& [scheme, phase, operation, group, group_size, payload_bytes] = row;
  return {.operation = operation,
          .scheme = scheme,
          .phase = phase,
          .group = group,
          .group_size = group_size,
          .payload_bytes = payload_bytes,
          .count = amount.count,
          .sent_bytes_per_rank = amount.sent_bytes_per_rank};
}

void check_rank(std::int64_t rank, std::int64_t ranks) {
  if (rank >= 0 && rank < ranks) return;
  fail_input(fmt::format("rank: must be from 0 to {}; it is {}", ranks - 1, rank));
}

void add(MessageVolume& volume, const TrafficLedgerRow& message) {
  volume.count += message.count;
  volume.payload_bytes += message.count * message.payload_bytes;
  volume.sent_bytes += static_cast<double>(message.count) * message.sent_bytes_per_rank;
}

}  // namespace

TrafficLedger count_traffic_of_step(const step::StepProgram& program,
                                    std::optional<std::int64_t> rank, const plan::RankGrid& grid,
                                    const MessageAlgorithmChoice& carriers) {
  if (rank) check_rank(*rank, program.ranks);
  const std::int64_t of_stage = program.ranks / std::ssize(program.stages);
  Rows rows;
  for (const step::PipelineStageProgram& stage : program.stages) {
    if (rank && grid.coordinates(*rank).pipeline != stage.position) continue;
    add_stage(rows, rank_communication_calls(program, stage, grid, carriers), rank ? 1 : of_stage);
  }
  TrafficLedger result;
  result.messages.reserve(rows.size());
  for (const auto& [row, amount] : rows) result.messages.push_back(message(row, amount));
  return result;
}

std::map<step::ParallelismScheme, MessageVolume> traffic_totals_by_scheme(
    const TrafficLedger& ledger) {
  std::map<step::ParallelismScheme, MessageVolume> result;
  for (const TrafficLedgerRow& row : ledger.messages) add(result[row.scheme], row);
  return result;
}

std::map<std::int64_t, MessageVolume> message_size_histogram(const TrafficLedger& ledger) {
  std::map<std::int64_t, MessageVolume> result;
  for (const TrafficLedgerRow& row : ledger.messages) {
    const auto bytes = static_cast<std::uint64_t>(row.payload_bytes);
    add(result[static_cast<std::int64_t>(std::bit_floor(bytes))], row);
  }
  return result;
}

}  // namespace stepwright::traffic

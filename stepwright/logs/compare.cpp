#include "stepwright/logs/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

namespace stepwright::logs {
namespace {

std::string where(const CommunicatorKey& key) {
  return fmt::format("rank {}, group {}, channel {}", key.rank,
                     name_of(plan::kGroupNames, key.group), key.channel);
}

/// Collects executed calls whose payload depends on the data, and the bytes that they sent.
class DataCalls {
 public:
  explicit DataCalls(const step::StepProgram& program) {
    for (const ProcessGroupCall& call : data_dependent_calls(program)) {
      const double bound = static_cast<double>(call.payload_bytes) * program.imbalance;
      rows_[call] = {.call = call, .bound_bytes = bound};
    }
  }

  /// Records an executed call that differs from the planned one at most in payload, and replaces
  /// its payload by the predicted one.
  void note(const ProcessGroupCall& planned, ProcessGroupCall& executed) {
    const auto found = rows_.find(planned);
    if (found == rows_.end()) return;
    ProcessGroupCall same = executed;
    same.payload_bytes = planned.payload_bytes;
    if (same != planned) return;
    RouterDependentCalls& row = found->second;
    ++row.calls;
    row.executed_bytes += executed.payload_bytes;
    row.largest_bytes = std::max(row.largest_bytes, executed.payload_bytes);
    if (static_cast<double>(executed.payload_bytes) > row.bound_bytes) ++row.beyond;
    executed = std::move(same);
  }

  void report(LedgerComparison& result) const {
    for (const auto& [call, row] : rows_) {
      if (row.calls > 0) result.routed.push_back(row);
      const std::int64_t predicted = row.calls * call.payload_bytes;
      if (call.operation != step::OperatorKind::kAllToAll || predicted == row.executed_bytes)
        continue;
      result.differences.push_back(
          fmt::format("all ranks: {} of {}, {}: predicted {} bytes in all; executed {}",
                      name_of(step::kOperatorNames, call.operation), call.name,
                      name_of(step::kPhaseNames, call.phase), predicted, row.executed_bytes));
    }
  }

 private:
  std::map<ProcessGroupCall, RouterDependentCalls> rows_;
};

/// Reports the first difference between executed calls and planned calls; the planned ones are
/// repeated for each step.
void compare_lists(const CommunicatorKey& key, const std::vector<ProcessGroupCall>& planned,
                   const std::vector<ProcessGroupCall>& executed, std::int64_t steps,
                   LedgerComparison& result) {
  const std::size_t period = planned.size();
  const std::size_t expected = period * static_cast<std::size_t>(steps);
  const std::size_t both = std::min(expected, executed.size());
  for (std::size_t i = 0; i < both; ++i) {
    if (planned[i % period] == executed[i]) continue;
    result.differences.push_back(fmt::format("{}: call {}: predicted {}; executed {}", where(key),
                                             i + 1, group_call_description(planned[i % period]),
                                             group_call_description(executed[i])));
    return;
  }
  if (expected == executed.size()) return;
  result.differences.push_back(
      fmt::format("{}: predicted {} calls; executed {}", where(key), expected, executed.size()));
}

using Row = std::tuple<step::OperatorKind, step::ParallelismScheme, step::Phase,
                       plan::CommunicatorKind, std::int64_t>;

step::Phase ledger_phase(step::Phase phase) {
  return phase == step::Phase::kWeightGradient ? step::Phase::kDataGradient : phase;
}

std::map<Row, std::int64_t> counts_of(const Calls& calls) {
  std::map<Row, std::int64_t> counts;
  for (const auto& [key, list] : calls) {
    for (const ProcessGroupCall& call : list) {
      ++counts[{call.operation, call.scheme, ledger_phase(call.phase), key.group,
                call.payload_bytes}];
    }
  }
  return counts;
}

std::string group_call_description(const Row& row) {
  const auto& [operation, scheme, phase, group, bytes] = row;
  return fmt::format("{}, {}, {}, group {}, {} bytes", name_of(step::kOperatorNames, operation),
                     name_of(step::kSchemeNames, scheme), name_of(step::kPhaseNames, phase),
                     name_of(plan::kGroupNames, group), bytes);
}

void compare_sums(const traffic::TrafficLedger& predicted, const ExecutedMessageLedger& executed,
                  LedgerComparison& result) {
  std::map<Row, std::int64_t> left = counts_of(executed.calls);
  for (const traffic::TrafficLedgerRow& message : predicted.messages) {
    const Row row{message.operation, message.scheme, message.phase, message.group,
                  message.payload_bytes};
    const std::int64_t expected = message.count * executed.steps;
    const std::int64_t found = left[row];
    left.erase(row);
    if (found == expected) continue;
    result.differences.push_back(fmt::format("all ranks: {}: predicted {} calls; executed {}",
                                             group_call_description(row), expected, found));
  }
  for (const auto& [row, found] : left) {
    result.differences.push_back(fmt::format("all ranks: {}: predicted none; executed {}",
                                             group_call_description(row), found));
  }
}

/// Returns the executed calls, with predicted payloads for those that depend on the data.
Calls with_predicted_data(const step::StepProgram& program, const Calls& planned, Calls executed,
                          LedgerComparison& result) {
  DataCalls data(program);
  for (auto& [key, list] : executed) {
    const auto found = planned.find(key);
    if (found == planned.end()) continue;
    const std::vector<ProcessGroupCall>& period = found->second;
    for (std::size_t i = 0; i < list.size(); ++i) data.note(period[i % period.size()], list[i]);
  }
  data.report(result);
  return executed;
}

}  // namespace

LedgerComparison compare_message_ledgers(const step::StepProgram& program,
                                         const plan::RankGrid& grid,
                                         const ExecutedMessageLedger& executed) {
  LedgerComparison result;
  if (program.ranks != executed.ranks) {
    result.differences.push_back(
        fmt::format("predicted {} ranks; executed {}", program.ranks, executed.ranks));
    return result;
  }
  const Calls planned = planned_calls(program, grid);
  const Calls made = with_predicted_data(program, planned, executed.calls, result);
  std::set<CommunicatorKey> keys;
  for (const auto& [key, list] : planned) keys.insert(key);
  for (const auto& [key, list] : made) keys.insert(key);
  for (const CommunicatorKey& key : keys) {
    const auto find = [&](const Calls& calls) {
      const auto found = calls.find(key);
      return found == calls.end() ? std::vector<ProcessGroupCall>{} : found->second;
    };
    compare_lists(key, find(planned), find(made), executed.steps, result);
  }
  compare_sums(traffic::count_traffic_of_step(program, std::nullopt, grid),
               {executed.ranks, executed.steps, made}, result);
  result.communicators = std::ssize(keys);
  for (const auto& [key, list] : planned) result.calls += std::ssize(list) * executed.steps;
  return result;
}

}  // namespace stepwright::logs

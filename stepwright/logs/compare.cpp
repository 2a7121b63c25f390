#include "stepwright/logs/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>

namespace stepwright {
namespace {

std::string where(const CommunicatorKey& key) {
  return fmt::format("rank {}, group {}, channel {}", key.rank, name_of(kGroupNames, key.group),
                     key.channel);
}

/// The first difference of two lists, of which the planned one is repeated for each step.
void compare_lists(const CommunicatorKey& key, const std::vector<GroupCall>& planned,
                   const std::vector<GroupCall>& executed, std::int64_t steps, Comparison& result) {
  const std::size_t period = planned.size();
  const std::size_t expected = period * static_cast<std::size_t>(steps);
  const std::size_t both = std::min(expected, executed.size());
  for (std::size_t i = 0; i < both; ++i) {
    if (planned[i % period] == executed[i]) continue;
    result.differences.push_back(fmt::format("{}: call {}: predicted {}; executed {}", where(key),
                                             i + 1, text_of(planned[i % period]),
                                             text_of(executed[i])));
    return;
  }
  if (expected == executed.size()) return;
  result.differences.push_back(
      fmt::format("{}: predicted {} calls; executed {}", where(key), expected, executed.size()));
}

using Row = std::tuple<OperatorKind, Scheme, Phase, GroupKind, std::int64_t>;

Phase ledger_phase(Phase phase) {
  return phase == Phase::kWeightGradient ? Phase::kDataGradient : phase;
}

std::map<Row, std::int64_t> counts_of(const Calls& calls) {
  std::map<Row, std::int64_t> counts;
  for (const auto& [key, list] : calls) {
    for (const GroupCall& call : list) {
      ++counts[{call.operation, call.scheme, ledger_phase(call.phase), key.group,
                call.payload_bytes}];
    }
  }
  return counts;
}

std::string text_of(const Row& row) {
  const auto& [operation, scheme, phase, group, bytes] = row;
  return fmt::format("{}, {}, {}, group {}, {} bytes", name_of(kOperatorNames, operation),
                     name_of(kSchemeNames, scheme), name_of(kPhaseNames, phase),
                     name_of(kGroupNames, group), bytes);
}

void compare_sums(const Ledger& predicted, const ExecutedLedger& executed, Comparison& result) {
  std::map<Row, std::int64_t> left = counts_of(executed.calls);
  for (const Message& message : predicted.messages) {
    const Row row{message.operation, message.scheme, message.phase, message.group,
                  message.payload_bytes};
    const std::int64_t expected = message.count * executed.steps;
    const std::int64_t found = left[row];
    left.erase(row);
    if (found == expected) continue;
    result.differences.push_back(fmt::format("all ranks: {}: predicted {} calls; executed {}",
                                             text_of(row), expected, found));
  }
  for (const auto& [row, found] : left) {
    result.differences.push_back(
        fmt::format("all ranks: {}: predicted none; executed {}", text_of(row), found));
  }
}

}  // namespace

Comparison compare_ledgers(const StepProgram& program, const Grid& grid,
                           const ExecutedLedger& executed) {
  Comparison result;
  if (program.ranks != executed.ranks) {
    result.differences.push_back(
        fmt::format("predicted {} ranks; executed {}", program.ranks, executed.ranks));
    return result;
  }
  const Calls planned = planned_calls(program, grid);
  std::set<CommunicatorKey> keys;
  for (const auto& [key, list] : planned) keys.insert(key);
  for (const auto& [key, list] : executed.calls) keys.insert(key);
  for (const CommunicatorKey& key : keys) {
    const auto find = [&](const Calls& calls) {
      const auto found = calls.find(key);
      return found == calls.end() ? std::vector<GroupCall>{} : found->second;
    };
    compare_lists(key, find(planned), find(executed.calls), executed.steps, result);
  }
  compare_sums(ledger(program, std::nullopt, grid), executed, result);
  result.communicators = std::ssize(keys);
  for (const auto& [key, list] : planned) result.calls += std::ssize(list) * executed.steps;
  return result;
}

}  // namespace stepwright

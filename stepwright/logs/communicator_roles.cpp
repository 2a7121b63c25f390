#include "stepwright/logs/communicator_roles.h"

#include <algorithm>
#include <functional>
#include <set>
#include <tuple>

#include "stepwright/logs/equal_groups.h"

namespace stepwright::logs {
namespace {

/// The largest payload of a call about norms, losses or counts, in bytes.
constexpr std::int64_t kFewBytes = 64;

/// The calls of one group by operation and payload, from which its kind of parallelism is guessed.
struct GroupPattern {
  CommunicatorRole role;
  std::map<LoggedOperation, std::map<std::int64_t, std::int64_t>> sizes;
  std::map<LoggedOperation, double> elements;  ///< Number of elements in all calls.
  bool typed = true;  ///< True if the log has the element type of each payload.

  [[nodiscard]] std::int64_t calls(LoggedOperation operation) const {
    const auto found = role.calls.find(operation);
    return found == role.calls.end() ? 0 : found->second;
  }
  /// Returns the share of an operation's calls that have the commonest payload, ignoring calls of a
  /// few bytes.
  [[nodiscard]] double sameness(LoggedOperation operation) const {
    const auto found = sizes.find(operation);
    if (found == sizes.end()) return 0;
    std::int64_t most = 0;
    std::int64_t all = 0;
    for (const auto& [payload, count] : found->second) {
      if (payload <= kFewBytes) continue;
      most = std::max(most, count);
      all += count;
    }
    return all == 0 ? 0 : static_cast<double>(most) / static_cast<double>(all);
  }
  [[nodiscard]] std::int64_t largest() const {
    std::int64_t all = 0;
    for (const auto& [operation, by_payload] : sizes) all = std::max(all, largest(operation));
    return all;
  }
  [[nodiscard]] std::int64_t largest(LoggedOperation operation) const {
    const auto found = sizes.find(operation);
    return found == sizes.end() ? 0 : found->second.rbegin()->first;
  }
};

/// True if clearly more is gathered than scattered. Then parameters are gathered for each use,
/// because a backward pass gathers again what its forward pass gathered, while an update gathers
/// once. Elements are compared, because a bucket is gathered in other pieces and another type than
/// it is scattered; calls are compared if the log lacks types.
bool gathers_at_each_use(const GroupPattern& group) {
  constexpr double kMoreElements = 1.4;
  constexpr double kMoreCalls = 1.8;
  if (group.typed) {
    return group.elements.at(LoggedOperation::kAllGather) >=
           kMoreElements * group.elements.at(LoggedOperation::kReduceScatter);
  }
  return static_cast<double>(group.calls(LoggedOperation::kAllGather)) >=
         kMoreCalls * static_cast<double>(group.calls(LoggedOperation::kReduceScatter));
}

std::string scheme_of(const GroupPattern& group) {
  constexpr double kSame = 0.8;
  const auto gathers = static_cast<double>(group.calls(LoggedOperation::kAllGather));
  constexpr double kGatheredTwice = 1.8;
  const auto scatters = static_cast<double>(group.calls(LoggedOperation::kReduceScatter));
  if (group.largest() <= kFewBytes) return "control: norms, losses, counts";
  if (group.calls(LoggedOperation::kAllToAll) > 0)
    return "expert, or context by exchanges (Ulysses)";
  if (group.calls(LoggedOperation::kSend) + group.calls(LoggedOperation::kReceive) >
      gathers + scatters + static_cast<double>(group.calls(LoggedOperation::kAllReduce))) {
    return "pipeline, or context as a ring";
  }
  if (gathers > 0 && scatters > 0) {
    const bool same = group.sameness(LoggedOperation::kAllGather) >= kSame &&
                      group.sameness(LoggedOperation::kReduceScatter) >= kSame;
    const bool twice = gathers >= kGatheredTwice * scatters;
    if (same && scatters > 2 && !twice) return "tensor, with sequence parallelism";
    return gathers_at_each_use(group)
               ? "data: parameters gathered at each use (ZeRO-3, FSDP)"
               : "data: gradients scattered, parameters gathered once (ZeRO-1 or ZeRO-2)";
  }
  const auto reductions = static_cast<double>(group.calls(LoggedOperation::kAllReduce) +
                                              group.calls(LoggedOperation::kReduce));
  if (gathers > 0 && reductions > 0 && group.largest(LoggedOperation::kAllGather) > kFewBytes) {
    return "data: gradients reduced, parameters gathered once (ZeRO-1)";
  }
  if (group.calls(LoggedOperation::kAllReduce) > 0) {
    return group.sameness(LoggedOperation::kAllReduce) >= kSame &&
                   group.calls(LoggedOperation::kAllReduce) > 8
               ? "tensor, or data in equal buckets"
               : "data: gradients";
  }
  return {};
}

}  // namespace

std::vector<CommunicatorRole> communicator_roles(const CommunicationLog& log) {
  const std::vector<std::int32_t> numbers = communicator_group_numbers(log);
  std::map<std::int32_t, GroupPattern> groups;
  std::map<std::tuple<std::int64_t, std::int32_t, LoggedOperation, std::int64_t>, std::int64_t>
      seen;
  const std::vector<EqualLoggedCalls> distinct_calls = log.records.distinct_calls();
  for (const auto& [record, kind, records, calls] : distinct_calls) {
    seen[{record.rank, record.communicator, record.operation, record.payload_bytes}] += calls;
  }
  for (const auto& [record, kind, records, calls] : distinct_calls) {
    if (record.communicator < 0) continue;
    const auto communicator = static_cast<std::size_t>(record.communicator);
    const auto [place, fresh] = groups.try_emplace(numbers[communicator]);
    GroupPattern& group = place->second;
    if (fresh) {
      group.role.group_size = log.communicators[communicator].size;
      group.role.ranks = log.communicators[communicator].ranks;
    }
    group.role.calls[record.operation] += calls;
    if (record.payload_bytes < 0) continue;
    group.sizes[record.operation][record.payload_bytes] += calls;
    group.role.payload_bytes += calls * record.payload_bytes;
    group.typed = group.typed && record.element_bytes > 0;
    if (record.element_bytes > 0) {
      group.elements[record.operation] += static_cast<double>(calls) *
                                          static_cast<double>(record.payload_bytes) /
                                          record.element_bytes;
    }
    if (seen[{record.rank, record.communicator, record.operation, record.payload_bytes}] > 1) {
      group.role.repeated_bytes += calls * record.payload_bytes;
    }
  }
  std::vector<CommunicatorRole> roles;
  for (auto& [key, group] : groups) {
    if (!group.sizes.empty()) group.role.probably = scheme_of(group);
    roles.push_back(std::move(group.role));
  }
  std::ranges::stable_sort(roles, std::greater<>(), &CommunicatorRole::payload_bytes);
  return roles;
}

}  // namespace stepwright::logs

#include "stepwright/logs/planned_step.h"

#include <algorithm>
#include <set>
#include <utility>

#include "stepwright/logs/planned_calls.h"

namespace stepwright::logs {
std::vector<LoggedOperation> log_operations_of_operator_kind(step::OperatorKind kind) {
  switch (kind) {
    case step::OperatorKind::kAllReduce: return {LoggedOperation::kAllReduce};
    case step::OperatorKind::kAllGather: return {LoggedOperation::kAllGather};
    case step::OperatorKind::kReduceScatter: return {LoggedOperation::kReduceScatter};
    case step::OperatorKind::kAllToAll: return {LoggedOperation::kAllToAll};
    case step::OperatorKind::kShift: return {LoggedOperation::kSend, LoggedOperation::kReceive};
    case step::OperatorKind::kSend: return {LoggedOperation::kSend};
    case step::OperatorKind::kReceive: return {LoggedOperation::kReceive};
    case step::OperatorKind::kBroadcast: return {LoggedOperation::kBroadcast};
    default: return {};
  }
}

std::int64_t PlannedStepCalls::count() const {
  std::int64_t sum = 0;
  for (const auto& [kind, sizes] : calls) {
    for (const auto& [payload, size] : sizes) sum += size.count;
  }
  return sum;
}

std::int64_t PlannedStepCalls::count(const GroupCallKind& kind, std::int64_t payload_bytes) const {
  const auto sizes = calls.find(kind);
  if (sizes == calls.end()) return 0;
  const auto size = sizes->second.find(payload_bytes);
  return size == sizes->second.end() ? 0 : size->second.count;
}

bool PlannedStepCalls::is_scalar_sum(const GroupCallKind& kind) const {
  const auto sizes = calls.find(kind);
  return sizes != calls.end() && std::ranges::any_of(sizes->second, [](const auto& size) {
           return size.second.scheme == step::ParallelismScheme::kControl;
         });
}

PlannedStepCalls planned_step(const step::StepProgram& program, const plan::RankGrid& grid,
                              std::int64_t rank) {
  Calls calls;
  add_planned_calls(calls, program, grid, rank);
  const std::set<ProcessGroupCall> routed = data_dependent_calls(program);
  PlannedStepCalls step;
  for (const auto& [key, list] : calls) {
    std::vector<std::int64_t> members = grid.group_ranks_containing(key.group, rank);
    std::ranges::sort(members);
    PlannedProcessGroup& group = step.groups[members];
    if (group.name.empty()) group.name = name_of(plan::kGroupNames, key.group);
    for (const ProcessGroupCall& call : list) {
      if (group.scheme == step::ParallelismScheme::kNone ||
          group.scheme == step::ParallelismScheme::kControl) {
        group.scheme = call.scheme;
        group.name = name_of(plan::kGroupNames, key.group);
      }
      for (const LoggedOperation operation : log_operations_of_operator_kind(call.operation)) {
        GroupCallKind kind{.operation = operation};
        if (!is_point_to_point(operation)) kind.members = members;
        kind.size = std::ssize(kind.members);
        PlannedCallTotals& size = step.calls[kind][call.payload_bytes];
        const bool beside =
            key.channel != name_of(step::kStreamNames, step::DeviceStream::kCompute);
        size.beside = beside && (size.count == 0 || size.beside);
        if (size.count++ == 0) size.scheme = call.scheme;
        size.report = call.scheme == step::ParallelismScheme::kControl && call.name == "loss";
        size.routed = size.routed || routed.contains(call);
      }
    }
  }
  // The world comes before groups of experts: in a dense model these have the same ranks by
  // coincidence.
  std::vector<plan::CommunicatorKind> kinds = {plan::CommunicatorKind::kWorld};
  for (const auto& [kind, name] : plan::kGroupNames) kinds.push_back(kind);
  for (const plan::CommunicatorKind kind : kinds) {
    std::vector<std::int64_t> members = grid.group_ranks_containing(kind, rank);
    std::ranges::sort(members);
    if (members.size() < 2) continue;
    step.groups.try_emplace(std::move(members),
                            PlannedProcessGroup{std::string(name_of(plan::kGroupNames, kind)),
                                                step::ParallelismScheme::kNone});
  }
  return step;
}

}  // namespace stepwright::logs

#include "stepwright/logs/planned_step.h"

#include <algorithm>
#include <set>
#include <utility>

#include "stepwright/logs/planned_calls.h"

namespace stepwright::logs {
std::vector<LogOperation> logged_operations_of(step::OperatorKind kind) {
  switch (kind) {
    case step::OperatorKind::kAllReduce: return {LogOperation::kAllReduce};
    case step::OperatorKind::kAllGather: return {LogOperation::kAllGather};
    case step::OperatorKind::kReduceScatter: return {LogOperation::kReduceScatter};
    case step::OperatorKind::kAllToAll: return {LogOperation::kAllToAll};
    case step::OperatorKind::kShift: return {LogOperation::kSend, LogOperation::kReceive};
    case step::OperatorKind::kSend: return {LogOperation::kSend};
    case step::OperatorKind::kReceive: return {LogOperation::kReceive};
    case step::OperatorKind::kBroadcast: return {LogOperation::kBroadcast};
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
           return size.second.scheme == step::Scheme::kControl;
         });
}

PlannedStepCalls planned_step(const step::StepProgram& program, const plan::Grid& grid,
                              std::int64_t rank) {
  Calls calls;
  add_planned_calls(calls, program, grid, rank);
  const std::set<ProcessGroupCall> routed = data_dependent_calls(program);
  PlannedStepCalls step;
  for (const auto& [key, list] : calls) {
    std::vector<std::int64_t> members = grid.members(key.group, rank);
    std::ranges::sort(members);
    PlannedProcessGroup& group = step.groups[members];
    if (group.name.empty()) group.name = name_of(plan::kGroupNames, key.group);
    for (const ProcessGroupCall& call : list) {
      if (group.scheme == step::Scheme::kNone || group.scheme == step::Scheme::kControl) {
        group.scheme = call.scheme;
        group.name = name_of(plan::kGroupNames, key.group);
      }
      for (const LogOperation operation : logged_operations_of(call.operation)) {
        GroupCallKind kind{.operation = operation};
        if (!is_point_to_point(operation)) kind.members = members;
        kind.size = std::ssize(kind.members);
        PlannedCallTotals& size = step.calls[kind][call.payload_bytes];
        const bool beside = key.channel != name_of(step::kStreamNames, step::Stream::kCompute);
        size.beside = beside && (size.count == 0 || size.beside);
        if (size.count++ == 0) size.scheme = call.scheme;
        size.report = call.scheme == step::Scheme::kControl && call.name == "loss";
        size.routed = size.routed || routed.contains(call);
      }
    }
  }
  // The world comes before groups of experts: in a dense model these have the same ranks by
  // coincidence.
  std::vector<plan::GroupKind> kinds = {plan::GroupKind::kWorld};
  for (const auto& [kind, name] : plan::kGroupNames) kinds.push_back(kind);
  for (const plan::GroupKind kind : kinds) {
    std::vector<std::int64_t> members = grid.members(kind, rank);
    std::ranges::sort(members);
    if (members.size() < 2) continue;
    step.groups.try_emplace(
        std::move(members),
        PlannedProcessGroup{std::string(name_of(plan::kGroupNames, kind)), step::Scheme::kNone});
  }
  return step;
}

}  // namespace stepwright::logs

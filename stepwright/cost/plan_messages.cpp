#include "stepwright/cost/plan_messages.h"

#include <algorithm>

namespace stepwright {

std::vector<PlanMessage> plan_messages(const StepProgram& program, const CostModel& cost,
                                       const std::array<GroupLayout, kGroupKinds>& layouts,
                                       const Collectives& collectives) {
  std::vector<PlanMessage> messages;
  for (const Template& piece : program.templates) {
    for (const Operator& op : piece.operators) {
      const GroupLayout& layout = layouts[static_cast<std::size_t>(op.group)];
      // A shift is received where it is sent.
      if (!is_communication(op.kind) || op.kind == OperatorKind::kReceive || layout.span < 0) {
        continue;
      }
      const Collective operation = collective_of(op.kind);
      const SocketGroup group = cost.socket_group(layout);
      const PlanMessage message{
          .method = scheduled_method(algorithm_of(collectives, op.scheme), operation, group),
          .operation = operation,
          .group = group,
          .payload_bytes = cost.payload_bytes(op, layout)};
      if (std::ranges::find(messages, message) == messages.end()) messages.push_back(message);
    }
  }
  return messages;
}

}  // namespace stepwright

#include "stepwright/cost/plan_messages.h"

#include <algorithm>

namespace stepwright::cost {

std::vector<PlanMessage> plan_messages(
    const step::StepProgram& program, const CostModel& cost,
    const std::array<cluster::GroupLayout, plan::kGroupKinds>& layouts,
    const plan::Collectives& collectives) {
  std::vector<PlanMessage> messages;
  for (const step::Template& piece : program.templates) {
    for (const step::Operator& op : piece.operators) {
      const cluster::GroupLayout& layout = layouts[static_cast<std::size_t>(op.group)];
      // A receive is the other end of a send, which is already listed.
      if (!step::is_communication(op.kind) || op.kind == step::OperatorKind::kReceive ||
          layout.span < 0) {
        continue;
      }
      const collective::Collective operation = step::collective_of(op.kind);
      const GroupNodePlacement group = cost.socket_group(layout);
      const PlanMessage message{.method = scheduled_algorithm(
                                    step::algorithm_of(collectives, op.scheme), operation, group),
                                .operation = operation,
                                .group = group,
                                .payload_bytes = cost.payload_bytes(op, layout)};
      if (std::ranges::find(messages, message) == messages.end()) messages.push_back(message);
    }
  }
  return messages;
}

}  // namespace stepwright::cost

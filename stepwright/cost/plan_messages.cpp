#include "stepwright/cost/plan_messages.h"

#include <algorithm>

namespace stepwright::cost {

std::vector<MeasurablePlanMessage> plan_messages_to_measure(
    const step::StepProgram& program, const CostModel& cost,
    const std::array<cluster::GroupLayout, plan::kGroupKinds>& layouts,
    const plan::CollectiveAlgorithmChoices& collectives) {
  std::vector<MeasurablePlanMessage> messages;
  for (const step::OperatorTemplate& piece : program.templates) {
    for (const step::Operator& op : piece.operators) {
      const cluster::GroupLayout& layout = layouts[static_cast<std::size_t>(op.group)];
      // A receive is the other end of a send, which is already listed.
      if (!step::is_communication(op.kind) || op.kind == step::OperatorKind::kReceive ||
          layout.span < 0) {
        continue;
      }
      const collective::CollectiveOperation operation = step::collective_of_operator(op.kind);
      const GroupNodePlacement group = cost.group_node_placement(layout);
      const MeasurablePlanMessage message{
          .method = algorithm_run_as_explicit_schedule(
              step::planned_collective_algorithm(collectives, op.scheme), operation, group),
          .operation = operation,
          .group = group,
          .payload_bytes = cost.payload_bytes(op, layout)};
      if (std::ranges::find(messages, message) == messages.end()) messages.push_back(message);
    }
  }
  return messages;
}

}  // namespace stepwright::cost

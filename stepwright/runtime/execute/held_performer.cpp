#include "stepwright/runtime/execute/held_performer.h"

#include <algorithm>
#include <utility>

#include "stepwright/runtime/messages/held_message.h"
#include "stepwright/runtime/messages/pipeline_neighbour.h"

namespace stepwright::runtime {

SleepingPerformer::SleepingPerformer(const EmulatedRankProgram& held, Groups& groups)
    : held_(held), groups_(groups) {}

Work SleepingPerformer::issue(PlacedOperator placed) {
  if (!step::is_communication(placed.op.kind)) return held_computation(placed);
  if (placed.op.stream != step::Stream::kCompute) return message(std::move(placed));
  return [this, send = message(std::move(placed))](Moment ready) {
    send(ready);
    clocks_[static_cast<std::size_t>(step::Stream::kCompute)].catch_up();
  };
}

Work SleepingPerformer::message(PlacedOperator placed) {
  if (held_.program.group_sizes[static_cast<std::size_t>(placed.op.group)] < 2) {
    return [](Moment /*ready*/) {};
  }
  if (placed.op.kind == step::OperatorKind::kReceive) return held_receive(placed);
  if (placed.op.kind == step::OperatorKind::kSend) {
    return [this, placed = std::move(placed)](Moment /*ready*/) { send(placed); };
  }
  return [this, &op = placed.op](Moment /*ready*/) {
    Communicator& group = groups_.of(op);
    EmulatedMessage message(op, scaled_bytes(op), group.size());
    for (std::int32_t i = 0; i < op.repeats; ++i) message.send(group);
  };
}

Work SleepingPerformer::held_computation(const PlacedOperator& placed) {
  const auto index = static_cast<std::size_t>(&placed.op - placed.piece.operators.data());
  const double seconds =
      held_.times[static_cast<std::size_t>(placed.item.which)][index] / held_.scale;
  ComputeClock& clock = clocks_.at(static_cast<std::size_t>(placed.op.stream));
  return [&clock, seconds, issued = Moment::clock::now()](Moment ready) {
    clock.spend(std::max(issued, ready), seconds);
  };
}

Work SleepingPerformer::held_receive(const PlacedOperator& placed) {
  const PipelineNeighbour from = neighbour_of(placed, held_.plan, held_.place);
  Communicator& group = groups_.of(placed.op);
  return [&op = placed.op, &group,
          expected = group.expect(emulated_buffer(scaled_bytes(placed.op), 1), from.position,
                                  from.tag)](Moment /*ready*/) { group.receive(op, expected); };
}

void SleepingPerformer::send(const PlacedOperator& placed) {
  const PipelineNeighbour to = neighbour_of(placed, held_.plan, held_.place);
  groups_.of(placed.op).send(placed.op, emulated_buffer(scaled_bytes(placed.op), 1), to.position,
                             to.tag);
}

double SleepingPerformer::scaled_bytes(const step::Operator& op) const {
  return static_cast<double>(op.payload_bytes()) / held_.scale;
}

}  // namespace stepwright::runtime

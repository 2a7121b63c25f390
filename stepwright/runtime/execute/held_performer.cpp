#include "stepwright/runtime/execute/held_performer.h"

#include <algorithm>
#include <utility>

#include "stepwright/runtime/messages/held_message.h"
#include "stepwright/runtime/messages/pipeline_neighbour.h"

namespace stepwright::runtime {

SleepingOperatorRunner::SleepingOperatorRunner(const EmulatedRankProgram& held,
                                               RankCommunicators& groups)
    : held_(held), groups_(groups) {}

Work SleepingOperatorRunner::make_operator_work(OperatorWithOperands placed) {
  if (!step::is_communication(placed.op.kind)) return held_computation(placed);
  if (placed.op.stream != step::DeviceStream::kCompute) return message(std::move(placed));
  return [this, send = message(std::move(placed))](Moment ready) {
    send(ready);
    clocks_[static_cast<std::size_t>(step::DeviceStream::kCompute)].mark_stream_free_now();
  };
}

Work SleepingOperatorRunner::message(OperatorWithOperands placed) {
  if (held_.program.group_sizes[static_cast<std::size_t>(placed.op.group)] < 2) {
    return [](Moment /*ready*/) {};
  }
  if (placed.op.kind == step::OperatorKind::kReceive) return held_receive(placed);
  if (placed.op.kind == step::OperatorKind::kSend) {
    return [this, placed = std::move(placed)](Moment /*ready*/) { send(placed); };
  }
  return [this, &op = placed.op](Moment /*ready*/) {
    Communicator& group = groups_.communicator_of_operator(op);
    EmulatedMessage message(op, scaled_bytes(op), group.size());
    for (std::int32_t i = 0; i < op.repeats; ++i) message.start_send_if_not_started(group);
  };
}

Work SleepingOperatorRunner::held_computation(const OperatorWithOperands& placed) {
  const auto index = static_cast<std::size_t>(&placed.op - placed.piece.operators.data());
  const double seconds =
      held_.times[static_cast<std::size_t>(placed.item.which)][index] / held_.scale;
  StreamPacer& clock = clocks_.at(static_cast<std::size_t>(placed.op.stream));
  return [&clock, seconds, issued = Moment::clock::now()](Moment ready) {
    clock.sleep_until_work_ends(std::max(issued, ready), seconds);
  };
}

Work SleepingOperatorRunner::held_receive(const OperatorWithOperands& placed) {
  const PipelineNeighbour from = pipeline_neighbour_of(placed, held_.plan, held_.place);
  Communicator& group = groups_.communicator_of_operator(placed.op);
  return [&op = placed.op, &group,
          expected = group.post_receive(emulated_buffer(scaled_bytes(placed.op), 1), from.position,
                                        from.tag)](Moment /*ready*/) {
    group.receive_buffer(op, expected);
  };
}

void SleepingOperatorRunner::send(const OperatorWithOperands& placed) {
  const PipelineNeighbour to = pipeline_neighbour_of(placed, held_.plan, held_.place);
  groups_.communicator_of_operator(placed.op).start_buffer_send(
      placed.op, emulated_buffer(scaled_bytes(placed.op), 1), to.position, to.tag);
}

double SleepingOperatorRunner::scaled_bytes(const step::Operator& op) const {
  return static_cast<double>(op.payload_bytes()) / held_.scale;
}

}  // namespace stepwright::runtime

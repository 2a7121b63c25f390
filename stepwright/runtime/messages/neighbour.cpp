#include "stepwright/runtime/messages/neighbour.h"

namespace stepwright {

Neighbour neighbour_of(const PlacedOperator& placed, const Plan& plan, const Coordinates& place) {
  const std::int64_t stages = plan.parallel.pipeline;
  const std::int64_t chunks = stages * plan.schedule.chunks;
  const bool sends = placed.op.kind == OperatorKind::kSend;
  const bool up = (placed.direction == Direction::kForward) == sends;
  const std::int64_t own = placed.chunk * stages + place.pipeline;
  const std::int64_t other = own + (up ? 1 : -1);
  const std::int64_t sender = sends ? own : other;
  return {other % stages, static_cast<int>(placed.micro_batch * chunks + sender)};
}

}  // namespace stepwright

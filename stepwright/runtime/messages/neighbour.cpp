#include "stepwright/runtime/messages/neighbour.h"

#include "stepwright/core/error.h"
#include "stepwright/schedule/placement.h"

namespace stepwright {

Neighbour neighbour_of(const PlacedOperator& placed, const Plan& plan, const Coordinates& place) {
  const Placement placement = placement_of(plan);
  const Place own{place.pipeline, placed.chunk};
  const bool sends = placed.op.kind == OperatorKind::kSend;
  const bool onward = (placed.op.phase == Phase::kForward) == sends;
  const std::optional<Place> other = onward ? placement.next(own) : placement.previous(own);
  if (!other) throw Error(ErrorKind::kRuntime, "a message beyond the ends of the model");
  const std::int64_t sender = placement.model_chunk(sends ? own : *other);
  const std::int64_t tag = placed.micro_batch * placement.model_chunks() + sender;
  return {other->position, static_cast<int>(tag)};
}

}  // namespace stepwright

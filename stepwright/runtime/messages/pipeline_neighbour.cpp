#include "stepwright/runtime/messages/pipeline_neighbour.h"

#include "stepwright/core/error.h"
#include "stepwright/schedule/placement.h"

namespace stepwright::runtime {

PipelineNeighbour neighbour_of(const PlacedOperator& placed, const plan::Plan& plan,
                               const plan::Coordinates& place) {
  const schedule::Placement placement = plan::placement_of(plan);
  const schedule::Place own{place.pipeline, placed.chunk};
  const bool sends = placed.op.kind == step::OperatorKind::kSend;
  const bool onward = (placed.op.phase == step::Phase::kForward) == sends;
  const std::optional<schedule::Place> other =
      onward ? placement.next(own) : placement.previous(own);
  if (!other) throw Error(ErrorKind::kRuntime, "a message beyond the ends of the model");
  const std::int64_t sender = placement.model_chunk(sends ? own : *other);
  const std::int64_t tag = placed.micro_batch * placement.model_chunks() + sender;
  return {other->position, static_cast<int>(tag)};
}

}  // namespace stepwright::runtime

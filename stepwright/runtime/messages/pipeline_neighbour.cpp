#include "stepwright/runtime/messages/pipeline_neighbour.h"

#include "stepwright/core/error.h"
#include "stepwright/schedule/placement.h"

namespace stepwright::runtime {

PipelineNeighbour pipeline_neighbour_of(const OperatorWithOperands& placed, const plan::Plan& plan,
                                        const plan::RankCoordinates& place) {
  const schedule::ModelChunkPlacement placement = plan::model_chunk_placement(plan);
  const schedule::ModelChunkPosition own{place.pipeline, placed.chunk};
  const bool sends = placed.op.kind == step::OperatorKind::kSend;
  const bool onward = (placed.op.phase == step::Phase::kForward) == sends;
  const std::optional<schedule::ModelChunkPosition> other =
      onward ? placement.next_chunk_place(own) : placement.next_chunk_place_of_backward(own);
  if (!other) throw Error(ErrorKind::kRuntime, "a message beyond the ends of the model");
  const std::int64_t sender = placement.model_chunk_index(sends ? own : *other);
  const std::int64_t tag = placed.micro_batch * placement.model_chunk_count() + sender;
  return {other->position, static_cast<int>(tag)};
}

}  // namespace stepwright::runtime

#pragma once

#include "stepwright/plan/plan.h"
#include "stepwright/runtime/rank/placed_operator.h"

namespace stepwright::runtime {

/// Other end of a pipeline message: its rank in the pipeline, and the tag that both ends compute
/// from the micro-batch and the sending model chunk.
struct PipelineNeighbour {
  std::int64_t position;
  int tag;
};

/// Returns the other end of a pipeline send or receive on the rank at grid coordinates `place`.
PipelineNeighbour pipeline_neighbour_of(const OperatorWithOperands& placed, const plan::Plan& plan,
                                        const plan::RankCoordinates& place);

}  // namespace stepwright::runtime

#pragma once

#include "stepwright/plan/plan.h"
#include "stepwright/runtime/rank/placed_operator.h"

namespace stepwright::runtime {

/// The neighbour to or from which a chunk's message goes: the pipeline position of its neighbour,
/// and a tag that both sides derive from the micro-batch and the chunk of the model that sends.
struct Neighbour {
  std::int64_t position;
  int tag;
};

/// The neighbour of a send or a receive on a rank at `place`.
Neighbour neighbour_of(const PlacedOperator& placed, const plan::Plan& plan,
                       const plan::Coordinates& place);

}  // namespace stepwright::runtime

#pragma once

#include "stepwright/plan/plan.h"
#include "stepwright/runtime/rank/placed_operator.h"

namespace stepwright::runtime {

/// The other end of a message of a chunk: its pipeline position, and a tag that both ends compute
/// from the micro-batch and the chunk of the model that sends.
struct Neighbour {
  std::int64_t position;
  int tag;
};

/// Returns the other end of a send or receive on a rank at `place`.
Neighbour neighbour_of(const PlacedOperator& placed, const plan::Plan& plan,
                       const plan::Coordinates& place);

}  // namespace stepwright::runtime

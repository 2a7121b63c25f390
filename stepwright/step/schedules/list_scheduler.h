#pragma once

#include <cstdint>
#include <vector>

#include "stepwright/plan/placement.h"
#include "stepwright/step/turn_play.h"

namespace stepwright {

/// A pipeline for which an order of turns is looked for.
struct UnevenPipeline {
  Placement placement;
  std::int64_t micro_batches = 1;
  TurnSeconds seconds;          ///< Of its data and weight gradients, and hops; without pairs.
  double most_activations = 0;  ///< A position holds at most, in those of one micro-batch through
                                ///< all of its chunks, each until its weight gradient is done.
};

/// What a list prefers.
struct ListPolicy {
  std::vector<std::int64_t> caps;  ///< By position: chunks' activations held at most.
  double patience = 0;             ///< A weight gradient may delay what comes by this part of it.
  bool forward_first = false;      ///< Else data gradients.
  bool deep_first = false;         ///< Of one direction the chunk that is further on its way.
};

/// Turns with cut backwards, by position, in the order of time: whoever can begin first begins,
/// with what its policy prefers. Caps may stop a list before all parts have their turn.
std::vector<Turns> listed_turns(const UnevenPipeline& pipeline, const ListPolicy& policy);

}  // namespace stepwright

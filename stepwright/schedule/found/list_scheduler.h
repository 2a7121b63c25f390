#pragma once

#include <cstdint>
#include <vector>

#include "stepwright/schedule/found/uneven_pipeline.h"

namespace stepwright {

/// Which backwards of a chunk are cut in two: so many of the first and of the last.
struct CutEnds {
  std::int64_t first = 0;
  std::int64_t last = 0;
};

/// What a list prefers.
struct ListPolicy {
  std::vector<std::vector<CutEnds>> cuts;  ///< By position, then chunk.
  std::vector<double> caps;                ///< By position: forwards keep at most.
  double patience = 0;         ///< A weight gradient may delay what comes by this part of it.
  bool forward_first = false;  ///< Else data gradients.
  bool deep_first = false;     ///< Of one direction the chunk that is further on its way.
};

/// The parts of all positions, in the order of time: whoever can begin first begins, with what its
/// policy prefers. Caps may stop a list before all parts have their turn.
std::vector<Order> listed_orders(const UnevenPipeline& pipeline, const ListPolicy& policy);

}  // namespace stepwright

#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "stepwright/schedule/found/uneven_pipeline.h"

namespace stepwright::schedule {

/// Which backwards of a chunk are cut in two: so many of the first and of the last.
struct CutEnds {
  std::int64_t first = 0;
  std::int64_t last = 0;
};

/// The preferences of a list.
struct ListPolicy {
  std::vector<std::vector<CutEnds>> cuts;  ///< Cut backwards, by position, then chunk.
  std::vector<double> caps;                ///< By position: forwards keep at most.
  double patience = 0;         ///< A weight gradient may delay what comes by this part of it.
  bool forward_first = false;  ///< False: data gradients go first.
  bool deep_first = false;     ///< Within a direction, prefers the chunk that is nearer to its end.
};

struct ListedOrders {
  std::vector<Order> orders;
  double seconds = 0;     ///< Makespan of all positions' orders.
  bool complete = false;  ///< False: it was given up, or caps left parts without a turn.
};

/// The parts of all positions, in the order of time: whoever can begin first begins, with what its
/// policy prefers. Given up where the makespan would be above `limit_s`.
ListedOrders listed_orders(const UnevenPipeline& pipeline, const ListPolicy& policy,
                           double limit_s);

}  // namespace stepwright::schedule

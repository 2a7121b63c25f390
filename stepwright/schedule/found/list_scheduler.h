#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "stepwright/schedule/found/uneven_pipeline.h"

namespace stepwright::schedule {

/// The backwards of a chunk that are split: the first `first` and the last `last`.
struct CutEnds {
  std::int64_t first = 0;
  std::int64_t last = 0;
};

/// Preferences of a list scheduler.
struct ListPolicy {
  std::vector<std::vector<CutEnds>> cuts;  ///< Split backwards, by position, then chunk.
  std::vector<double> caps;  ///< For each position, the most that it may keep after a forward.
  /// Share of its own time by which a weight gradient may delay the part that comes next.
  double patience = 0;
  bool forward_first = false;  ///< True if forwards go before backwards; false: backwards go first.
  /// True if, within a direction, the chunk nearest to that direction's end goes first.
  bool deep_first = false;
};

struct ListedOrders {
  std::vector<Order> orders;
  double seconds = 0;  ///< Makespan of the orders in seconds.
  /// False if scheduling was stopped, or memory caps left parts unscheduled.
  bool complete = false;
};

/// Schedules the parts of all positions in order of time: the position that can start first does,
/// with the part that the policy prefers. Stops if the makespan would exceed `limit_s`.
ListedOrders listed_orders(const UnevenPipeline& pipeline, const ListPolicy& policy,
                           double limit_s);

}  // namespace stepwright::schedule

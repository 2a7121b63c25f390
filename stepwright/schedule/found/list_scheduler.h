#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "stepwright/schedule/found/uneven_pipeline.h"

namespace stepwright::schedule {

/// Which backwards of a chunk are split into data and weight gradients: the first `first` and the
/// last `last`.
struct SplitBackwardCounts {
  std::int64_t first = 0;
  std::int64_t last = 0;
};

/// Preferences of a list scheduler (a greedy search for the order of work in a pipeline).
struct ListSchedulerPolicy {
  /// For each pipeline rank and each of its chunks ([rank][chunk]): which backwards are split into
  /// data and weight gradients.
  std::vector<std::vector<SplitBackwardCounts>> cuts;
  /// For each pipeline rank, the most memory that it may still keep after a forward, in the unit of
  /// `ModelChunkKeptMemory`.
  std::vector<double> caps;
  /// Longest delay that a weight gradient may cause to the work after it, as a share of the weight
  /// gradient's own time.
  double patience = 0;
  /// True: forwards go before backwards; false: backwards go before forwards.
  bool forward_first = false;
  /// True if, among forwards or among backwards, the chunk nearest to the end of that direction
  /// (for backwards, the model's first chunk) goes first.
  bool deep_first = false;
};

struct ListedOrders {
  std::vector<Order> orders;
  double seconds = 0;  ///< Seconds from the first start to the last end of the scheduled work.
  /// True unless scheduling was stopped early, or memory caps left work unscheduled.
  bool complete = false;
};

/// Schedules the work of all pipeline ranks greedily in order of time: the rank that can start
/// first starts the work that the policy prefers. Stops if the total time would exceed `limit_s`
/// seconds.
ListedOrders schedule_greedily_by_time(const UnevenPipeline& pipeline,
                                       const ListSchedulerPolicy& policy, double limit_s);

}  // namespace stepwright::schedule

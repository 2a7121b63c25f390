#pragma once

#include <cstdint>

namespace stepwright::whole_run {

/// The nodes of a training run and its spares, which replace failed nodes until these are repaired.
/// The run waits while more nodes are out than there are spares; no further node fails meanwhile.
struct TrainingNodePool {
  /// Failures per second of all nodes in use together, while the run does not wait for a repair.
  double failures_per_s = 0;
  double repair_s = 0;
  std::int64_t spares = 0;  ///< Number of spare nodes, which replace nodes under repair.
};

/// Returns the share of time during which a training run waits for repairs, by Erlang's loss
/// formula with spares + 1 servers and the mean number of failures in one repair time as load. Only
/// the mean repair time matters, not its distribution (Sevastyanov, 1957).
double time_share_waiting_for_node_repairs(const TrainingNodePool& pool);

/// Returns the number of spare nodes that makes a run cheapest: it minimises the run's time
/// multiplied by the number of paid nodes, which is `nodes` plus the spares.
std::int64_t cheapest_spare_node_count(const TrainingNodePool& pool, double nodes);

/// Returns the variance, in s^2, of a run's time that is due to waiting for repairs. `running_s`:
/// seconds during which the run has its nodes; `lost_share`: part of them that failures cost. Holds
/// for exponential repair times and runs much longer than a repair.
double time_variance_of_node_repairs_s2(const TrainingNodePool& pool, double running_s,
                                        double lost_share);

}  // namespace stepwright::whole_run

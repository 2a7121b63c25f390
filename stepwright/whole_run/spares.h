#pragma once

#include <cstdint>

namespace stepwright::whole_run {

/// Nodes that fail while spare nodes replace those being repaired. The run waits if more nodes are
/// out than there are spares, and no further node fails while it waits.
struct NodePool {
  /// Failures per second of all nodes together, while the run does not wait.
  double failures_per_s = 0;
  double repair_s = 0;
  std::int64_t spares = 0;  ///< Number of spare nodes.
};

/// Returns the share of the time during which the run waits, by Erlang's loss formula for spares +
/// 1 servers and the mean number of failures in one repair time as load. Only the mean repair time
/// matters, not its distribution (Sevastyanov, 1957).
double waiting_share(const NodePool& pool);

/// Returns the number of spares that minimises the time of a run multiplied by the number of paid
/// nodes, `nodes` in use plus the spares. A further spare is worth its price as long as it saves
/// more waiting.
std::int64_t cheapest_spares(const NodePool& pool, double nodes);

/// Returns the variance, in s^2, that waiting for repairs adds to the time of a run that has its
/// nodes for `running_s`; failures cost `lost_share` of that time. It follows from the fundamental
/// equation of the number of nodes that are out, for repairs without memory and runs that are long
/// compared with a repair.
double waiting_variance_s2(const NodePool& pool, double running_s, double lost_share);

}  // namespace stepwright::whole_run

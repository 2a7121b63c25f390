#pragma once

#include <cstdint>

namespace stepwright::whole_run {

/// Nodes that fail, one out after another for its repair, while spares stand in for those that are
/// out: the run waits where more are out than there are spares, and none fails then.
struct NodePool {
  double failures_per_s = 0;  ///< Failures of all nodes together, while the run does not wait.
  double repair_s = 0;
  std::int64_t spares = 0;  ///< Nodes that wait to stand in.
};

/// Share of the whole time that the run waits: Erlang's loss formula for spares + 1 and as many
/// failures as come in one repair. Only the mean of repairs matters (Sevastyanov, 1957).
double waiting_share(const NodePool& pool);

/// The number of spares with the least product of the time of a run and the nodes that are paid:
/// `nodes` in use, and the spares. One more is worth it as long as it saves more waiting.
std::int64_t cheapest_spares(const NodePool& pool, double nodes);

/// Variance that waiting adds to the time of a run that has its nodes for `running_s`, of which
/// failures cost `lost_share`: by the fundamental equation of the number of nodes that are out, for
/// repairs without memory and runs that are long beside them.
double waiting_variance_s2(const NodePool& pool, double running_s, double lost_share);

}  // namespace stepwright::whole_run

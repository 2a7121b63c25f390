#pragma once

#include <optional>
#include <span>
#include <vector>

#include "stepwright/cluster/cluster.h"
#include "stepwright/diagnose/finding.h"
#include "stepwright/diagnose/message_lines.h"
#include "stepwright/plan/plan.h"

namespace stepwright::diagnose {

/// The cluster on which messages were sent, and the plan that places the groups of ranks on it.
struct MessageClusterAndPlan {
  cluster::Cluster cluster;
  std::optional<plan::Plan> plan;  ///< Plan of the job; nullopt: unknown.
};

/// Finds operations whose messages are slow: over messages of at least one mebibyte, the median bus
/// bandwidth is below half of the prediction for the cluster (`cost::MessageCostModel`,
/// docs/models.md). If a log does not name the group, the plan's slowest group is assumed; without
/// a plan, all devices or a group spread over as many nodes as possible. Messages that the cluster
/// cannot have are ignored. `links`: earlier findings about slow paths, which become the first
/// causes.
std::vector<FaultFinding> slow_message_findings(const MeasuredMessages& measured,
                                                const MessageClusterAndPlan& network,
                                                std::span<const FaultFinding> links);

}  // namespace stepwright::diagnose

#pragma once

#include <optional>
#include <span>
#include <vector>

#include "stepwright/cluster/cluster.h"
#include "stepwright/diagnose/finding.h"
#include "stepwright/diagnose/message_lines.h"
#include "stepwright/plan/plan.h"

namespace stepwright::diagnose {

/// The network on which messages were sent, and how groups of ranks are placed on it.
struct MessageNetwork {
  cluster::Cluster cluster;
  std::optional<plan::Plan> plan;  ///< Plan of the job; nullopt: only the cluster is known.
};

/// Returns findings for operations whose messages are slow: over messages of at least a mebibyte,
/// the median bus bandwidth is less than half of what the cluster's law predicts
/// (`cost::CollectiveCost`, docs/models.md). If a log does not name the group, the slowest group of
/// the plan is assumed; without a plan, all devices, or ranks spread over as many nodes as the
/// group's size allows. Messages that the cluster cannot have are left out. `links`: findings of
/// the same logs; slow paths among them become the first causes.
std::vector<Finding> slow_message_findings(const MeasuredMessages& measured,
                                           const MessageNetwork& network,
                                           std::span<const Finding> links);

}  // namespace stepwright::diagnose

#pragma once

#include <optional>
#include <span>
#include <vector>

#include "stepwright/cluster/cluster.h"
#include "stepwright/diagnose/finding.h"
#include "stepwright/diagnose/message_lines.h"
#include "stepwright/plan/plan.h"

namespace stepwright::diagnose {

/// The network on which messages were sent, and how groups of ranks lie on it.
struct MessageNetwork {
  cluster::Cluster cluster;
  std::optional<plan::Plan> plan;  ///< nullopt: only the cluster is known.
};

/// Findings of operations whose messages of a mebibyte and more reach, in the median of their
/// sizes, less than half of the bus bandwidth that the cluster's law gives (`cost::CollectiveCost`,
/// docs/models.md). Where a log does not name the group, it is the slowest one of the plan; without
/// a plan it has all devices, or lies as far apart as its size allows. Messages that the cluster
/// cannot hold are left out. `links`: findings of the same logs, of which slow ways are the first
/// causes.
std::vector<Finding> message_findings(const MeasuredMessages& measured,
                                      const MessageNetwork& network,
                                      std::span<const Finding> links);

}  // namespace stepwright::diagnose

#pragma once

#include <vector>

#include "stepwright/cluster/cluster.h"
#include "stepwright/tune/tune.h"

namespace stepwright::tune {

/// Returns the cluster with fewer nodes, or with fewer devices on each node: idle devices are left
/// out. Levels of the network keep their links, and sizes that divide each other.
cluster::Cluster with_devices(const cluster::Cluster& cluster, std::int64_t nodes,
                              std::int64_t devices_per_node);

/// Returns parts of a cluster on which a step may be faster than on all of it, since their numbers
/// of devices divide well. The whole cluster comes first, then the largest number of nodes, and of
/// devices of a node, that is a power of two or three times one, as far as at least
/// `kMinUsedDeviceShare` of the devices stay in use.
std::vector<cluster::Cluster> cluster_parts_to_try(const cluster::Cluster& cluster);

/// Least share of the devices in use for a part of a cluster to be tried.
inline constexpr double kMinUsedDeviceShare = 0.6;

/// Least saving, as a share of the step, for which devices are left idle.
inline constexpr double kMinIdlingGain = 0.001;

/// Returns the best answer over the parts of the job's cluster; where the job must use all devices,
/// only the whole is searched. The result's job has the devices in use, and a note says which stand
/// idle. Where no part has a legal plan, returns the `EmptySpaceReason` of the whole.
TuneOutcome tune_on_parts(const plan::Job& job, const TuneOptions& options);

}  // namespace stepwright::tune

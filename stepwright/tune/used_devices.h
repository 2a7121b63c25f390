#pragma once

#include <vector>

#include "stepwright/cluster/cluster.h"
#include "stepwright/tune/tune.h"

namespace stepwright::tune {

/// Returns the cluster reduced to `nodes` nodes with `devices_per_node` devices each; idle devices
/// are left out. Network levels keep their links; their sizes are adapted so that they divide each
/// other.
cluster::Cluster cluster_reduced_to_devices(const cluster::Cluster& cluster, std::int64_t nodes,
                                            std::int64_t devices_per_node);

/// Returns the whole cluster and then smaller parts of it on which a step may be faster, since
/// their numbers of devices divide well: the largest number of nodes, and of devices of a node,
/// that is a power of two or three times one. At least `kMinUsedDeviceShare` of the devices stay in
/// use.
std::vector<cluster::Cluster> cluster_parts_to_try(const cluster::Cluster& cluster);

/// Least share of the devices that a part of the cluster must use to be tried in a search.
inline constexpr double kMinUsedDeviceShare = 0.6;

/// Least saving, as a share of the step time, for which a search leaves devices idle.
inline constexpr double kMinGainForIdleDevices = 0.001;

/// Searches the cluster and well-divisible parts of it, and returns the best answer (only the
/// whole, if the job must use all devices). The result's job has the devices in use, and a note
/// tells which are idle. `EmptySearchSpaceReason` if no part has a legal plan.
TuneOutcome tune_on_cluster_parts(const plan::Job& job, const TuneOptions& options);

}  // namespace stepwright::tune

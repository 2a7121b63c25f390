#pragma once

#include <vector>

#include "stepwright/cluster/cluster.h"
#include "stepwright/tune/tune.h"

namespace stepwright::tune {

/// The cluster with fewer nodes, or with fewer devices of each: what stands idle is left out.
/// Levels keep their links, and sizes that nest.
cluster::Cluster with_devices(const cluster::Cluster& cluster, std::int64_t nodes,
                              std::int64_t devices_per_node);

/// Parts of a cluster that may do more than all of it: numbers of devices that divide well. The
/// whole comes first, then the largest number of nodes, and of devices of a node, that is a power
/// of two or three times one, as far as that leaves `kLeastUsed` of the devices in use.
std::vector<cluster::Cluster> parts_worth_trying(const cluster::Cluster& cluster);

/// Share of the devices below which a part is not tried.
inline constexpr double kLeastUsed = 0.6;

/// How much shorter a step on fewer devices must be, relatively, before devices are left idle for
/// it.
inline constexpr double kWorthIdling = 0.001;

/// The best answer over the parts of the job's cluster; of the whole alone where the job uses all.
/// Its job has the devices in use, a note says what stands idle. `NoPlan` of the whole where no
/// part has a legal plan.
TuneOutcome tune_on_parts(const plan::Job& job, const TuneOptions& options);

}  // namespace stepwright::tune

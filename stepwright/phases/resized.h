#pragma once

#include <cstdint>

#include "stepwright/plan/job.h"

namespace stepwright::phases {

/// The cluster with another number of devices, also with more nodes than it has. Fails with
/// `kInput` where they are no whole nodes, nor a part of one, or need a network that there is none
/// of.
cluster::Cluster resized(const cluster::Cluster& cluster, std::int64_t devices);

/// The plan on another number of devices of such a cluster: with another data-parallel degree.
/// Fails with `kInput` where no such plan is legal, naming `field`.
plan::PlannedJob on_devices(const plan::PlannedJob& planned, std::int64_t devices,
                            const char* field);

}  // namespace stepwright::phases

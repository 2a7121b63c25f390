#pragma once

#include <cstdint>

#include "stepwright/plan/job.h"

namespace stepwright {

/// The cluster with another number of devices, also with more nodes than it has. Fails with
/// `kInput` where they are no whole nodes, nor a part of one, or need a network that there is none
/// of.
Cluster resized(const Cluster& cluster, std::int64_t devices);

/// The plan on another number of devices of such a cluster: with another data-parallel degree.
/// Fails with `kInput` where no such plan is legal, naming `field`.
PlannedJob on_devices(const PlannedJob& planned, std::int64_t devices, const char* field);

}  // namespace stepwright

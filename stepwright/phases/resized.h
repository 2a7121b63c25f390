#pragma once

#include <cstdint>

#include "stepwright/plan/job.h"

namespace stepwright::phases {

/// Returns the cluster with another number of devices, possibly with more nodes than it has. Fails
/// with `kInput` if the devices are neither whole nodes nor a part of one, or need a network that
/// the cluster lacks.
cluster::Cluster resized_cluster(const cluster::Cluster& cluster, std::int64_t devices);

/// Returns the plan on another number of devices of the same cluster, with another data-parallel
/// degree. Fails with `kInput`, naming `field`, if no such plan is legal.
plan::PlannedJob plan_on_devices(const plan::PlannedJob& planned, std::int64_t devices,
                                 const char* field);

}  // namespace stepwright::phases

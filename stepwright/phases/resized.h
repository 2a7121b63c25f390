#pragma once

#include <cstdint>

#include "stepwright/plan/job.h"

namespace stepwright::phases {

/// Returns a copy of a cluster with `devices` devices, and more nodes if that takes more. Fails
/// with `kInput` if the devices are neither whole nodes nor part of one node, or need a network
/// that the cluster lacks.
cluster::Cluster cluster_with_device_count(const cluster::Cluster& cluster, std::int64_t devices);

/// Returns a plan for another number of devices of the same cluster, by changing its data-parallel
/// degree. Fails with `kInput`, naming `field`, if no such plan is legal.
plan::PlannedJob plan_with_device_count(const plan::PlannedJob& planned, std::int64_t devices,
                                        const char* field);

}  // namespace stepwright::phases

#pragma once

#include <string>
#include <vector>

#include "stepwright/cluster/cluster.h"

namespace stepwright::cluster {

/// Returns remarks on figures of a cluster that are far from those of any existing machine, laptops
/// and emulated labs included; the usual cause is a number in another unit than the file's.
std::vector<std::string> implausible_cluster_notes(const Cluster& cluster);

}  // namespace stepwright::cluster

#pragma once

#include <string>
#include <vector>

#include "stepwright/cluster/cluster.h"

namespace stepwright::cluster {

/// Returns notes about values of a cluster that no existing machine comes near, not even laptops or
/// emulated labs; the usual cause is a wrong unit in the file.
std::vector<std::string> implausible_cluster_notes(const Cluster& cluster);

}  // namespace stepwright::cluster

#pragma once

#include <string>
#include <vector>

#include "stepwright/cluster/cluster.h"

namespace stepwright::cluster {

/// Remarks on figures of a cluster that are far from any that exists, a laptop's and an emulated
/// lab's among them: most often a number in another unit than the file's.
std::vector<std::string> unlikely_figures(const Cluster& cluster);

}  // namespace stepwright::cluster

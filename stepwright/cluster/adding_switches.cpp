#include "stepwright/cluster/adding_switches.h"

#include <algorithm>

#include "stepwright/cluster/generation.h"

namespace stepwright::cluster {
InNetworkReductionSupport in_network_reduction_support(const Cluster& cluster) {
  const bool adds = device_generation_of(cluster.device).adding_switches &&
                    std::ranges::any_of(cluster.levels, [](const NetworkLevel& level) {
                      return level.links == LinkTechnology::kNvlink &&
                             level.size >= kMinNvlsRanksPerNode && !level.mesh;
                    });
  return adds ? InNetworkReductionSupport::kInsideNodes : InNetworkReductionSupport::kNone;
}

}  // namespace stepwright::cluster

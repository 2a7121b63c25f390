#include "stepwright/cluster/adding_switches.h"

#include <algorithm>

#include "stepwright/cluster/generation.h"

namespace stepwright::cluster {
InNetworkReduction in_network_reduction(const Cluster& cluster) {
  const bool adds =
      device_generation_of(cluster.device).adding_switches &&
      std::ranges::any_of(cluster.levels, [](const FabricLevel& level) {
        return level.links == LinkTechnology::kNvlink && level.size >= kMinNvlsRanks && !level.mesh;
      });
  return adds ? InNetworkReduction::kInsideNodes : InNetworkReduction::kNone;
}

}  // namespace stepwright::cluster

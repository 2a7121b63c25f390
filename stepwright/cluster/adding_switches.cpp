#include "stepwright/cluster/adding_switches.h"

#include <algorithm>

#include "stepwright/cluster/generation.h"

namespace stepwright::cluster {
AddingSwitches adding_switches(const Cluster& cluster) {
  const bool adds =
      generation_of(cluster.device).adding_switches &&
      std::ranges::any_of(cluster.levels, [](const Level& level) {
        return level.links == Links::kNvlink && level.size >= kAddingRanks && !level.mesh;
      });
  return adds ? AddingSwitches::kInsideNodes : AddingSwitches::kNone;
}

}  // namespace stepwright::cluster

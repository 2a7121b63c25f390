#include "stepwright/cluster/adding_switches.h"

#include <algorithm>

#include "stepwright/cluster/generation.h"

namespace stepwright {

AddingSwitches adding_switches(const Cluster& cluster) {
  const Generation generation = generation_of(cluster.device);
  const bool adds =
      (generation == Generation::kH100 || generation == Generation::kB200) &&
      std::ranges::any_of(cluster.levels, [](const Level& level) {
        return level.links == Links::kNvlink && level.size >= kAddingRanks && !level.mesh;
      });
  return adds ? AddingSwitches::kInsideNodes : AddingSwitches::kNone;
}

}  // namespace stepwright

#include "stepwright/collective/ho_ring.h"

#include <utility>

namespace stepwright {

Tiered ho_ring_tiers(const ScheduleSpec& spec) {
  std::vector<std::int32_t> sizes;
  for (std::size_t i = 0; i + 1 < spec.tiers.size(); ++i) {
    if (spec.tiers[i] > 1) sizes.push_back(spec.tiers[i]);
  }
  sizes.push_back(spec.tiers.back());
  return {.tiers = Tiers(std::move(sizes)), .chunks = spec.chunks, .inner = spec.inner};
}

Inner inner_for(const Cluster& cluster) {
  const bool one_switch = levels_in_node(cluster) == 1 && !cluster.levels.front().mesh;
  return one_switch ? Inner::kDirect : Inner::kRing;
}

}  // namespace stepwright

#include "stepwright/interleave/block.h"

#include <algorithm>
#include <limits>

#include "stepwright/simulate/price/step_load.h"

namespace stepwright::interleave {

double compute_seconds_beside_collectives(const LinkSeconds& collectives,
                                          const cost::OverlapSlowdownFactors& contention) {
  double now_s = 0;
  double hidden_s = 0;
  while (now_s < std::ranges::max(collectives)) {
    double next_s = std::numeric_limits<double>::infinity();
    double slow = 1;
    for (int link = 0; link < cost::kLinkClasses; ++link) {
      const double ends_s = collectives[static_cast<std::size_t>(link)];
      if (ends_s <= now_s) continue;
      next_s = std::min(next_s, ends_s);
      slow = std::max(slow, simulate::computation_slowdown_factor(
                                static_cast<cost::LinkClass>(link), contention));
    }
    hidden_s += (next_s - now_s) / slow;
    now_s = next_s;
  }
  return hidden_s;
}

double interleaved_block_seconds(const LinkSeconds& collectives, double compute_s,
                                 const cost::OverlapSlowdownFactors& contention) {
  const double hidden_s = compute_seconds_beside_collectives(collectives, contention);
  return std::ranges::max(collectives) + std::max(0.0, compute_s - hidden_s);
}

}  // namespace stepwright::interleave

#include "stepwright/collective/ring.h"

namespace stepwright {

Tiered ring_tiers(const ScheduleSpec& spec) {
  return {.tiers = Tiers({ranks_of(spec)}), .chunks = spec.chunks};
}

}  // namespace stepwright

#include "stepwright/collective/two_level.h"

#include "stepwright/collective/ho_ring.h"

namespace stepwright {

Tiered two_level_tiers(const ScheduleSpec& spec) {
  Tiered tiered = ho_ring_tiers(spec);
  tiered.in_turn = true;
  return tiered;
}

}  // namespace stepwright

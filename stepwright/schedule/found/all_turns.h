#pragma once

#include <cstdint>
#include <vector>

#include "stepwright/schedule/schedule.h"

namespace stepwright::schedule {

/// The turns of all of so many positions. Throws `Error{kInput}` where the schedule is `auto` and
/// no order is settled for them (`with_order` does).
std::vector<Turns> all_turns(const Schedule& schedule, std::int64_t positions,
                             std::int64_t micro_batches);

}  // namespace stepwright::schedule

#pragma once

#include <cstdint>
#include <vector>

#include "stepwright/schedule/schedule.h"

namespace stepwright::schedule {

/// Returns the turns (entries of the schedule) of each of `positions` pipeline ranks. Throws
/// `Error{kInput}` if the schedule is `auto` and no order has been chosen for these numbers of
/// ranks and micro-batches (`resolve_schedule_order` chooses one).
std::vector<Turns> schedule_turns_of_positions(const PipelineSchedule& schedule,
                                               std::int64_t positions, std::int64_t micro_batches);

}  // namespace stepwright::schedule

#include "stepwright/schedule/found/all_turns.h"

#include "stepwright/core/error.h"
#include "stepwright/schedule/found/found.h"
#include "stepwright/schedule/kinds.h"

namespace stepwright::schedule {

std::vector<Turns> all_turns(const Schedule& schedule, std::int64_t positions,
                             std::int64_t micro_batches) {
  if (!traits_of(schedule.kind).found)
    return turns_of_named_schedule(schedule, positions, micro_batches);
  const Placement placement = chunk_placement_of(schedule, positions);
  if (!fits(schedule.basis, placement)) {
    fail_input("the schedule auto has no order yet: `stepwright tune` and `predict` settle it");
  }
  const FoundTurns* known = schedule.known.found.get();
  if (known != nullptr && known->micro_batches == micro_batches &&
      std::ssize(known->turns) == positions) {
    return known->turns;
  }
  return find_shortest_turns(uneven_pipeline(schedule.basis, placement, micro_batches));
}

}  // namespace stepwright::schedule

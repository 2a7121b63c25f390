#include "stepwright/collective/proof.h"

#include "stepwright/collective/local_order.h"
#include "stepwright/collective/schedule_form.h"
#include "stepwright/collective/symbolic_run.h"

namespace stepwright::collective {

std::optional<CollectiveScheduleDefect> find_rank_schedule_defect(
    const CollectiveSchedule& frame, const RankCollectiveSchedule& schedule, std::int32_t rank,
    std::int32_t ranks) {
  auto defect = first_malformed_step(frame, schedule, ranks);
  if (!defect) defect = first_unordered_step(frame, schedule);
  if (defect) defect->rank = rank;
  return defect;
}

std::optional<CollectiveScheduleDefect> find_collective_schedule_defect(
    const CollectiveSchedule& schedule) {
  const auto ranks = static_cast<std::int32_t>(std::ssize(schedule.ranks));
  for (std::int32_t rank = 0; rank < ranks; ++rank) {
    if (auto defect = find_rank_schedule_defect(schedule, schedule.ranks[rank], rank, ranks))
      return defect;
  }
  return run_schedule_symbolically(schedule);
}

}  // namespace stepwright::collective

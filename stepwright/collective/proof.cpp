#include "stepwright/collective/proof.h"

#include "stepwright/collective/local_order.h"
#include "stepwright/collective/schedule_form.h"
#include "stepwright/collective/symbolic_run.h"

namespace stepwright::collective {

std::optional<Defect> defect_of_rank(const CollectiveSchedule& frame, const RankSchedule& schedule,
                                     std::int32_t rank, std::int32_t ranks) {
  auto defect = malformed(frame, schedule, ranks);
  if (!defect) defect = disordered(frame, schedule);
  if (defect) defect->rank = rank;
  return defect;
}

std::optional<Defect> defect_of(const CollectiveSchedule& schedule) {
  const auto ranks = static_cast<std::int32_t>(std::ssize(schedule.ranks));
  for (std::int32_t rank = 0; rank < ranks; ++rank) {
    if (auto defect = defect_of_rank(schedule, schedule.ranks[rank], rank, ranks)) return defect;
  }
  return run_symbols(schedule);
}

}  // namespace stepwright::collective

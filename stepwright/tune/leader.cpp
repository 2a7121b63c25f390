#include "stepwright/tune/leader.h"

#include <algorithm>
#include <utility>

#include "stepwright/tune/why.h"

namespace stepwright::tune {

void move_plan_to_first_place(TuneResult& result, std::size_t place, std::size_t top) {
  std::vector<TunedPlan>& all = result.simulated;
  const double before_s = result.plans.front().step_time_s;
  const auto first = all.begin();
  std::rotate(first, first + static_cast<std::ptrdiff_t>(place),
              first + static_cast<std::ptrdiff_t>(place + 1));
  const TunedPlan& leader = all.front();
  for (TunedPlan& tuned : all) tuned.lost = reason_plan_is_slower(leader, tuned);
  const double open_s = before_s * (1 - result.optimality_gap);
  result.optimality_gap = std::max(0.0, 1 - open_s / leader.step_time_s);
  if (result.baseline) {
    result.speedup_over_baseline = result.baseline->step_time_s / leader.step_time_s;
  }
  const std::size_t count = std::min(std::max<std::size_t>(1, top), all.size());
  result.plans.assign(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count));
}

}  // namespace stepwright::tune

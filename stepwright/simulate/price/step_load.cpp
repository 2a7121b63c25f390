#include "stepwright/simulate/price/step_load.h"

#include <algorithm>

namespace stepwright::simulate {

void PipelinePositionStepLoad::add(const std::array<double, cost::kLinkClasses>& seconds,
                                   double times) {
  for (std::size_t i = 0; i < busy_s.size(); ++i) busy_s[i] += times * seconds[i];
}

double computation_slowdown_factor(cost::LinkClass link,
                                   const cost::OverlapSlowdownFactors& contention) {
  switch (link) {
    case cost::LinkClass::kInside: return std::max(1.0, contention.compute_beside_inside);
    case cost::LinkClass::kNetwork: return std::max(1.0, contention.compute_beside_network);
    default: return 1;
  }
}

double max_computation_slowdown_factor(const cost::OverlapSlowdownFactors& contention) {
  return std::max(computation_slowdown_factor(cost::LinkClass::kInside, contention),
                  computation_slowdown_factor(cost::LinkClass::kNetwork, contention));
}

double step_time_lower_bound_s(const PipelinePositionStepLoad& load,
                               const cost::OverlapSlowdownFactors& contention) {
  const double waiting_s = load.waiting_s +
                           std::max(load.fill_s, load.first_messages_s - load.first_s) +
                           std::max(load.drain_s, load.last_messages_s - load.last_s);
  double slowed_s = 0;
  for (const cost::LinkClass link : {cost::LinkClass::kInside, cost::LinkClass::kNetwork}) {
    const double beside_s = load.busy_s[static_cast<std::size_t>(link)] - waiting_s;
    const double lost = 1 - 1 / computation_slowdown_factor(link, contention);
    slowed_s = std::max(slowed_s, lost * beside_s);
  }
  return load.compute_s + waiting_s + slowed_s;
}

}  // namespace stepwright::simulate

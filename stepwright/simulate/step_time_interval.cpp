#include "stepwright/simulate/step_time_interval.h"

#include <algorithm>

namespace stepwright::simulate {

double step_share_spent_waiting(const StageTimeBreakdown& critical, double step_s) {
  return std::clamp(1 - (critical.compute_s + critical.optimizer_s) / step_s, 0.0, 1.0);
}

StepTimeInterval predicted_step_time_interval(const plan::PlannedJob& planned,
                                              const cost::CostModel& cost, StepTimeEstimates step) {
  StepTimeInterval span{.interval = cost.step_time_ratio_interval(step.waiting_share),
                        .loads = expert_imbalance_effect(planned, step.priced_s),
                        .frameworks = step_time_range_over_frameworks(planned)};
  if (span.loads) span.interval.high *= span.loads->longer;
  if (span.frameworks) {
    span.interval.low = std::min(span.interval.low, span.frameworks->least_s / step.simulated_s);
    span.interval.high = std::max(span.interval.high, span.frameworks->most_s / step.simulated_s);
  }
  return span;
}

}  // namespace stepwright::simulate

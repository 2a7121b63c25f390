#include "stepwright/simulate/step_time_interval.h"

#include <algorithm>

namespace stepwright::simulate {

double waiting_share(const Breakdown& critical, double step_s) {
  return std::clamp(1 - (critical.compute_s + critical.optimizer_s) / step_s, 0.0, 1.0);
}

StepTimeInterval step_span(const plan::PlannedJob& planned, const cost::CostModel& cost,
                           StepSeconds step) {
  StepTimeInterval span{.interval = cost.step_interval(step.waiting_share),
                        .loads = imbalance_span(planned, step.priced_s),
                        .frameworks = framework_span(planned)};
  if (span.loads) span.interval.high *= span.loads->longer;
  if (span.frameworks) {
    span.interval.low = std::min(span.interval.low, span.frameworks->least_s / step.simulated_s);
    span.interval.high = std::max(span.interval.high, span.frameworks->most_s / step.simulated_s);
  }
  return span;
}

}  // namespace stepwright::simulate

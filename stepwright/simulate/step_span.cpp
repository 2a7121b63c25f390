#include "stepwright/simulate/step_span.h"

#include <algorithm>

namespace stepwright::simulate {

StepSpan step_span(const plan::PlannedJob& planned, const cost::CostModel& cost, StepSeconds step) {
  StepSpan span{.interval = cost.step_interval(),
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

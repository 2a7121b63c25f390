#pragma once

#include <optional>

#include "stepwright/cost/cost_model.h"
#include "stepwright/plan/job.h"
#include "stepwright/simulate/framework_span.h"
#include "stepwright/simulate/imbalance_span.h"
#include "stepwright/simulate/timeline/simulation.h"

namespace stepwright::simulate {

/// The 80 % interval of a step's time, and the unstated choices that widen it.
struct StepSpan {
  cost::StepInterval interval;  ///< The 80 % interval, in shares of the step time.
  /// Effect of uneven expert loads; nullopt where the job states them.
  std::optional<ImbalanceSpan> loads;
  /// Step times over frameworks; nullopt where the job names its framework.
  std::optional<FrameworkSpan> frameworks;
};

/// Seconds of one step, found in two ways: simulated and priced.
struct StepSeconds {
  double simulated_s;
  double priced_s;  ///< Seconds by closed form (`Pricer`), which prices the loads of experts.
  /// Share of the simulated step in which its critical stage waits (`waiting_share`).
  double waiting_share;
};

/// Returns the share (0 to 1) of a step in which its critical stage neither computes nor updates.
double waiting_share(const Breakdown& critical, double step_s);

/// Returns the interval that published runs give a job of its kind, widened to uneven loads of
/// experts where the job states none, and to every framework that runs the plan where the job names
/// none.
StepSpan step_span(const plan::PlannedJob& planned, const cost::CostModel& cost, StepSeconds step);

}  // namespace stepwright::simulate

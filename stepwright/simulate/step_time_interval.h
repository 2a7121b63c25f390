#pragma once

#include <optional>

#include "stepwright/cost/cost_model.h"
#include "stepwright/plan/job.h"
#include "stepwright/simulate/expert_load_effect.h"
#include "stepwright/simulate/framework_time_range.h"
#include "stepwright/simulate/timeline/simulation.h"

namespace stepwright::simulate {

/// The 80 % confidence interval of a step's time, and the unstated facts of the job that widen it.
struct StepTimeInterval {
  /// Interval in which the step time lies with a probability of 80 %, as shares of the predicted
  /// step time.
  cost::StepTimeRatioInterval interval;
  /// Effect of uneven expert loads; nullopt if the job states them or has no experts on several
  /// ranks.
  std::optional<ExpertImbalanceEffect> loads;
  /// Range of step times over frameworks; nullopt if the job names its framework.
  std::optional<FrameworkTimeRange> frameworks;
};

/// Seconds of one step of a plan, simulated and by closed form.
struct StepTimeEstimates {
  double simulated_s;
  double priced_s;  ///< Seconds of one step by closed form (`PlanPricer`).
  /// Share (0 to 1) of the simulated step in which its critical stage waits.
  double waiting_share;
};

/// Returns the share (0 to 1) of a step of `step_s` seconds in which the critical stage neither
/// computes nor updates parameters.
double step_share_spent_waiting(const StageTimeBreakdown& critical, double step_s);

/// Returns the 80 % confidence interval of a step time that published runs of similar jobs show. If
/// the job states no expert loads, it is widened for uneven ones; if it names no framework, for
/// every framework that runs the plan.
StepTimeInterval predicted_step_time_interval(const plan::PlannedJob& planned,
                                              const cost::CostModel& cost, StepTimeEstimates step);

}  // namespace stepwright::simulate

#pragma once

#include <optional>

#include "stepwright/cost/cost_model.h"
#include "stepwright/plan/job.h"
#include "stepwright/simulate/framework_span.h"
#include "stepwright/simulate/imbalance_span.h"
#include "stepwright/simulate/timeline/simulation.h"

namespace stepwright::simulate {

/// The interval of 80 % of a step, and the unstated choices that widen it.
struct StepSpan {
  cost::StepInterval interval;              ///< In shares of the step.
  std::optional<ImbalanceSpan> loads;       ///< Uneven experts, where nothing states them.
  std::optional<FrameworkSpan> frameworks;  ///< Where the job names none.
};

/// Seconds of one step by two ways to find them.
struct StepSeconds {
  double simulated_s;
  double priced_s;       ///< By closed form (`Pricer`), as the loads of experts are priced.
  double waiting_share;  ///< Share of the simulated step (`waiting_share`).
};

/// Share of a step in which its critical stage neither computes nor updates: 0 to 1.
double waiting_share(const Breakdown& critical, double step_s);

/// Widens the interval that published runs give a job of its kind: to uneven loads of experts that
/// nothing states, and to every framework that runs the plan where the job names none.
StepSpan step_span(const plan::PlannedJob& planned, const cost::CostModel& cost, StepSeconds step);

}  // namespace stepwright::simulate

#pragma once

#include <optional>

#include "stepwright/cost/cost_model.h"
#include "stepwright/plan/job.h"
#include "stepwright/simulate/framework_span.h"
#include "stepwright/simulate/imbalance_span.h"

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
  double priced_s;  ///< By closed form (`Pricer`), as the loads of experts are priced.
};

/// Returns the 80 % interval of a step: that of published runs of the job's kind, wider if the
/// loads of experts are not stated, and over all frameworks that run the plan if the job names
/// none.
StepSpan step_span(const plan::PlannedJob& planned, const cost::CostModel& cost, StepSeconds step);

}  // namespace stepwright::simulate

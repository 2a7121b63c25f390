#pragma once

#include <optional>
#include <string>

#include "stepwright/plan/job.h"

namespace stepwright::simulate {

/// How a step's time depends on the load of experts that a job does not state.
struct ImbalanceSpan {
  double load = 0;    ///< Assumed load of the busiest expert rank over the mean.
  double longer = 0;  ///< Priced step time with that load over the one with equal loads.
};

/// Returns the span of a job whose experts are on several ranks, if the job states neither loads
/// nor a capacity; otherwise nullopt. `even_s`: price of the plan with the job as it is, in
/// seconds.
std::optional<ImbalanceSpan> imbalance_span(const plan::PlannedJob& planned, double even_s);

/// Returns the span in a sentence, next to the step that is predicted with equal loads.
std::string imbalance_note(const ImbalanceSpan& span, double step_s);

}  // namespace stepwright::simulate

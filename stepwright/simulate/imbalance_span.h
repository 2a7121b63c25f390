#pragma once

#include <optional>
#include <string>

#include "stepwright/plan/job.h"

namespace stepwright::simulate {

/// How a step's time depends on the load of experts that a job does not state.
struct ImbalanceSpan {
  double load = 0;    ///< Supposed load of the busiest expert rank over the mean.
  double longer = 0;  ///< Priced step with that load over the one with equal loads.
};

/// The span of a job whose experts lie on several ranks, where neither loads nor a capacity are
/// stated; nullopt elsewhere. `even_s`: price of the plan as the job is, in seconds.
std::optional<ImbalanceSpan> imbalance_span(const plan::PlannedJob& planned, double even_s);

/// The span in a sentence, beside the step that is predicted with equal loads.
std::string imbalance_note(const ImbalanceSpan& span, double step_s);

}  // namespace stepwright::simulate

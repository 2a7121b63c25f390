#include "stepwright/tune/nearest_fit.h"

#include <variant>

#include "stepwright/tune/against.h"

namespace stepwright::tune {

std::optional<plan::Plan> nearest_fit(const plan::PlannedJob& planned, const TuneOptions& options) {
  plan::Job job = planned.job;
  job.use_all = true;
  const TuneOutcome outcome = try_tune(job, options);
  const auto* result = std::get_if<TuneResult>(&outcome);
  if (result == nullptr || !result->plans.front().fits) return std::nullopt;
  const Against way = against(*result, planned.plan, options);
  for (const Change& change : way.changes) {
    if (change.reached.fits) return change.reached.plan;
  }
  return std::nullopt;
}

}  // namespace stepwright::tune

#include "stepwright/tune/nearest_fit.h"

#include <utility>
#include <variant>

#include "stepwright/tune/against.h"

namespace stepwright::tune {

std::optional<TuneResult> search_best_plans_for_job_of(const plan::PlannedJob& planned,
                                                       const TuneOptions& options) {
  plan::Job job = planned.job;
  job.use_all = true;
  TuneOptions best = options;
  best.only_best = true;
  TuneOutcome outcome = try_tune(job, best);
  auto* result = std::get_if<TuneResult>(&outcome);
  if (result == nullptr) return std::nullopt;
  return std::move(*result);
}

std::optional<plan::Plan> nearest_fitting_plan(const plan::PlannedJob& planned,
                                               const TuneOptions& options) {
  const std::optional<TuneResult> result = search_best_plans_for_job_of(planned, options);
  if (!result || !result->plans.front().fits) return std::nullopt;
  const UserPlanComparison way = compare_user_plan(*result, planned.plan, options);
  for (const PlanChange& change : way.changes) {
    if (change.reached.fits) return change.reached.plan;
  }
  return std::nullopt;
}

}  // namespace stepwright::tune

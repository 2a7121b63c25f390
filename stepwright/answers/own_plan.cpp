#include "stepwright/answers/own_plan.h"

#include <fmt/format.h>

#include <utility>

#include "stepwright/core/error.h"
#include "stepwright/plan/laws/legality.h"
#include "stepwright/simulate/found_order.h"
#include "stepwright/tune/differences.h"

namespace stepwright::answers {

plan::PlannedJob read_user_plan(const UserFile& file, const std::string& job_file,
                                const plan::Job& job) {
  if (job.objective.kind == plan::TunerObjectiveKind::kSmallestCluster) {
    fail_input(
        fmt::format("{}: the objective is the smallest cluster, but --against compares plans on "
                    "one cluster: give a job with another objective",
                    job_file));
  }
  plan::PlannedJob planned = read_plan(file);
  if (const auto field = tune::first_differing_job_field(job, planned.job)) {
    fail_input(fmt::format("{}: is not a plan of {}: {}", file.name, job_file, *field));
  }
  if (const auto refused = plan::find_plan_rejection(job, planned.plan)) {
    plan::fail_rejected_plan(*refused, file.name);
  }
  return simulate::resolve_schedule_order(std::move(planned));
}

}  // namespace stepwright::answers

#include "stepwright/answers/expert_answer.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "stepwright/plan/frameworks/defaults.h"
#include "stepwright/plan/laws/legality.h"
#include "stepwright/tune/why.h"

namespace stepwright::answers {
namespace {

bool spreads_experts(const tune::TunedPlan& tuned) { return tuned.plan.parallel.expert > 1; }

/// Returns the expert-parallel degrees above 1 that a job allows.
std::vector<std::int64_t> expert_degrees(const plan::Job& job) {
  const std::vector<std::int64_t> listed = job.space.expert;
  std::vector<std::int64_t> degrees = listed.empty() ? plan::legal_expert_degrees(job) : listed;
  std::erase(degrees, 1);
  return degrees;
}

/// Returns the fastest plan of a separate search.
std::optional<tune::TunedPlan> searched(const tune::TuneResult& result,
                                        const tune::TuneOptions& options) {
  plan::Job job = result.job;
  job.use_all = true;  // as the first plan does
  job.space.expert = expert_degrees(job);
  if (job.space.expert.empty()) return std::nullopt;
  const tune::FasterPlans found = tune::find_faster_plans(
      job, std::numeric_limits<double>::infinity(),
      {.threads = options.threads, .top = 1, .conditions = options.conditions});
  if (found.plans.empty()) return std::nullopt;
  return found.plans.front();
}

}  // namespace

std::optional<tune::TunedPlan> best_expert_parallel_plan(const tune::TuneResult& result,
                                                         const tune::TuneOptions& options) {
  const tune::TunedPlan& first = result.plans.front();
  if (!result.job.model.experts || spreads_experts(first) || !first.fits) return std::nullopt;
  std::optional<tune::TunedPlan> best;
  for (const tune::TunedPlan& tuned : result.simulated) {
    const bool counts = spreads_experts(tuned) && tuned.fits;
    if (counts && (!best || tuned.step_time_s < best->step_time_s)) best = tuned;
  }
  if (!best) best = searched(result, options);
  if (best) best->lost = tune::reason_plan_is_slower(first, *best);
  return best;
}

std::string uncommon_sharding_note(const plan::Job& job, const plan::Plan& plan) {
  if (job.framework.name.empty()) return "";
  const plan::Sharding recipe = plan::framework_defaults(job.framework).recipe_sharding;
  const bool whole = recipe.optimizer != plan::StateShardingScope::kNone &&
                     recipe.parameters == plan::StateShardingScope::kNone;
  if (!whole || plan.sharding.parameters == plan::StateShardingScope::kNone) return "";
  return fmt::format(
      "This plan is unusual: the published recipes of {} shard only optimizer states, but this "
      "plan also shards parameters ({}). `search: {{sharding: [NNN, NNI, NNG]}}` in the job "
      "excludes such plans.",
      job.framework.name, plan::sharding_letters(plan.sharding));
}

}  // namespace stepwright::answers

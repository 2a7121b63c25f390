#include "stepwright/tune/baseline.h"

#include <algorithm>
#include <tuple>

#include "stepwright/plan/legality.h"
#include "stepwright/tune/trial.h"

namespace stepwright {
namespace {

/// Tensor and pipeline degrees in the order in which the rule tries them.
std::vector<std::pair<std::int64_t, std::int64_t>> degrees(const Job& job) {
  std::vector<std::pair<std::int64_t, std::int64_t>> pairs;
  for (const std::int64_t tensor : legal_tensor_sizes(job)) {
    if (tensor > job.cluster.devices_per_node) continue;
    for (const std::int64_t pipeline : legal_pipeline_sizes(job)) {
      const std::int64_t model = tensor * pipeline;
      if (job.cluster.devices() % model != 0) continue;
      if (job.sequences % (job.cluster.devices() / model) == 0)
        pairs.emplace_back(tensor, pipeline);
    }
  }
  std::ranges::sort(pairs, [](const auto& a, const auto& b) {
    return std::tuple(a.first * a.second, b.first) < std::tuple(b.first * b.second, a.first);
  });
  return pairs;
}

Plan rule_plan(const Job& job, std::int64_t tensor, std::int64_t pipeline, std::int64_t expert,
               RecomputeKind recompute) {
  Plan plan;
  plan.parallel = {.tensor = tensor,
                   .pipeline = pipeline,
                   .expert = expert,
                   .data = job.cluster.devices() / (tensor * pipeline)};
  plan.sequence_parallel = tensor > 1 && job.length % tensor == 0;
  plan.sharding.optimizer = Spread::kGlobal;
  plan.recompute.kind = recompute;
  plan.accumulate = default_accumulate(job.precision);
  return plan;
}

std::optional<Baseline> try_rule(const Job& job, const CostModel& cost, Pricer& pricer, Plan plan,
                                 double capacity_bytes) {
  if (broken_rule(job, plan)) return std::nullopt;
  plan = canonical(plan, job);
  const Price price = pricer.price(plan);
  if (price.memory_bytes > capacity_bytes) return std::nullopt;
  const TunedPlan tuned = simulate_plan(job, cost, plan, price);
  if (!tuned.fits) return std::nullopt;
  return Baseline{plan, tuned.step_time_s, tuned.peak_memory_bytes};
}

}  // namespace

std::optional<Baseline> rule_of_thumb(const Job& job, const CostModel& cost,
                                      double capacity_bytes) {
  Pricer pricer(job, cost);
  for (const std::int64_t expert : legal_expert_sizes(job)) {
    for (const auto& [tensor, pipeline] : degrees(job)) {
      for (const RecomputeKind recompute :
           {RecomputeKind::kNone, RecomputeKind::kSelective, RecomputeKind::kFull}) {
        const Plan plan = rule_plan(job, tensor, pipeline, expert, recompute);
        if (auto found = try_rule(job, cost, pricer, plan, capacity_bytes)) return found;
      }
    }
  }
  return std::nullopt;
}

}  // namespace stepwright

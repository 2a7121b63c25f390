#include "stepwright/tune/baseline.h"

#include <algorithm>
#include <tuple>

#include "stepwright/plan/frameworks/defaults.h"
#include "stepwright/plan/frameworks/law.h"
#include "stepwright/plan/laws/legality.h"
#include "stepwright/tune/evaluation.h"

namespace stepwright::tune {
namespace {

/// Fewest tokens of a rank at which the rule still cuts a sequence further.
constexpr std::int64_t kShortRows = 4096;

/// Degrees in the order in which the rule tries them.
struct Degrees {
  std::int64_t tensor = 1;
  std::int64_t pipeline = 1;
  std::int64_t expert = 1;
  bool short_of_micro_batches = false;

  /// Sort key: models cut into few parts first.
  [[nodiscard]] auto rank() const {
    return std::tuple(short_of_micro_batches, tensor * pipeline, pipeline);
  }
};

/// Returns the expert degrees that fit in a node beside the tensor degree, largest first, then
/// those that span several nodes.
std::vector<std::int64_t> expert_order(const plan::Job& job, std::int64_t tensor) {
  std::vector<std::int64_t> sizes = plan::legal_expert_degrees(job);
  const std::int64_t room = std::max<std::int64_t>(1, job.cluster.devices_per_node / tensor);
  std::ranges::sort(sizes, {}, [room](std::int64_t size) {
    return size <= room ? std::pair<std::int64_t, std::int64_t>(0, -size) : std::pair(size, size);
  });
  return sizes;
}

std::vector<Degrees> degrees(const plan::Job& job, std::int64_t context) {
  std::vector<Degrees> all;
  for (const std::int64_t tensor : plan::legal_tensor_degrees(job)) {
    if (tensor > job.cluster.devices_per_node) continue;
    for (const std::int64_t pipeline : plan::legal_pipeline_degrees(job)) {
      const std::int64_t model = tensor * pipeline * context;
      if (job.cluster.devices() % model != 0) continue;
      const std::int64_t data = job.cluster.devices() / model;
      if (job.sequences % data != 0) continue;
      for (const std::int64_t expert : expert_order(job, tensor)) {
        all.push_back({tensor, pipeline, expert, job.sequences / data < pipeline});
      }
    }
  }
  std::ranges::stable_sort(all, {}, &Degrees::rank);
  return all;
}

plan::Plan rule_plan(const plan::Job& job, const Degrees& size, std::int64_t context,
                     plan::RecomputeKind recompute) {
  plan::Plan plan;
  plan.parallel = {.tensor = size.tensor,
                   .pipeline = size.pipeline,
                   .context = context,
                   .expert = size.expert,
                   .data = job.cluster.devices() / (size.tensor * size.pipeline * context)};
  plan.sequence_parallel = size.tensor > 1 && job.length / context % size.tensor == 0;
  plan.sharding.optimizer = plan::StateShardingScope::kGlobal;
  plan.recompute.kind = recompute;
  plan.accumulate = plan::default_gradient_type(job);
  plan.overlap = plan::all_overlap_flags(true);
  const bool ring = job.kernels.attention != cluster::AttentionKernel::kUnfused;
  plan.context_kind = ring ? plan::ContextKind::kRing : plan::ContextKind::kUlysses;
  return plan;
}

std::optional<BaselinePlan> try_rule(const plan::Job& job, const cost::CostModel& cost,
                                     simulate::PlanPricer& pricer, plan::Plan plan,
                                     const simulate::AvailablePlanMemory& room) {
  if (plan::first_broken_rule(job, plan)) return std::nullopt;
  plan = plan::canonical_plan(plan, job);
  if (!job.framework.name.empty()) {
    const std::optional<plan::Plan> own =
        plan::nearest_runnable_plan(job.framework, job, plan, true);
    if (!own || own->parallel != plan.parallel) return std::nullopt;
    plan = *own;
  }
  const simulate::PlanPrice price = pricer.price(plan);
  if (!room.fits_in_memory(price)) return std::nullopt;
  const TunedPlan tuned = simulate_plan(job, cost, plan, price);
  if (!tuned.fits) return std::nullopt;
  return BaselinePlan{plan, tuned.step_time_s, tuned.peak_memory_bytes};
}

}  // namespace

std::optional<BaselinePlan> rule_of_thumb_plan(const plan::Job& job, const cost::CostModel& cost,
                                               const simulate::AvailablePlanMemory& room) {
  simulate::PlanPricer pricer(job, cost);
  const auto try_all = [&](std::int64_t context, plan::RecomputeKind recompute) {
    std::optional<BaselinePlan> found;
    for (const Degrees& size : degrees(job, context)) {
      const plan::Plan plan = rule_plan(job, size, context, recompute);
      found = try_rule(job, cost, pricer, plan, room);
      if (found) break;
    }
    return found;
  };
  const std::vector<std::int64_t> contexts = plan::legal_context_degrees(job);
  for (const std::int64_t context : contexts) {
    for (const plan::RecomputeKind recompute :
         {plan::RecomputeKind::kNone, plan::RecomputeKind::kSelective}) {
      if (auto found = try_all(context, recompute)) return found;
    }
    if (job.length / context < kShortRows) break;
  }
  for (const std::int64_t context : contexts) {
    if (auto found = try_all(context, plan::RecomputeKind::kFull)) return found;
  }
  return std::nullopt;
}

}  // namespace stepwright::tune

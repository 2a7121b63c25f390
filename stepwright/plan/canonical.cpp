#include "stepwright/plan/canonical.h"

#include "stepwright/plan/effects.h"
#include "stepwright/plan/job.h"
#include "stepwright/schedule/kinds.h"

namespace stepwright::plan {
namespace {

void settle_sharding(Sharding& sharding, const ParallelismDegrees& sizes, const Job& job) {
  const auto replace = [&sharding](StateShardingScope from, StateShardingScope to) {
    for (StateShardingScope* state :
         {&sharding.parameters, &sharding.gradients, &sharding.optimizer}) {
      if (*state == from) *state = to;
    }
    sharding.group = sharding.expert_group = 1;
  };
  if (!reduces_gradients(job, sizes))
    replace(StateShardingScope::kGlobal, StateShardingScope::kNone);
  if (!sharding.uses(StateShardingScope::kInner)) return;
  const bool experts = job.model.experts.has_value();
  if (sharding.group == 1 && (!experts || sharding.expert_group == 1)) {
    replace(StateShardingScope::kInner, StateShardingScope::kNone);
  } else if (sharding.group == sizes.context * sizes.data &&
             (!experts || sharding.expert_group == sizes.expert_data_degree())) {
    replace(StateShardingScope::kInner, StateShardingScope::kGlobal);
  }
}

}  // namespace

Sharding canonical_sharding(const Job& job, const Plan& plan) {
  Sharding sharding = plan.sharding;
  settle_sharding(sharding, plan.parallel, job);
  return sharding;
}

Plan with_canonical_sharding(const Job& job, Plan plan) {
  plan.sharding = canonical_sharding(job, plan);
  return plan;
}

std::int64_t vocabulary_table_pipeline_ranks(const Plan& plan) {
  return schedule::traits_of(plan.schedule.kind).spreads_vocabulary ? plan.parallel.pipeline : 1;
}

OffloadModuleSet effective_offload_modules(OffloadModuleSet listed,
                                           const ActivationRecomputation& recompute) {
  bool every = true;
  bool any = false;
  each_setting(recompute, [&](const ActivationRecomputation& setting) {
    every = every && common_layer_recompute(setting).whole;
    any = any || parts_recomputed_in_layers(setting).whole;
  });
  if (every) return listed.activations_kept_by_layer(true);
  return any ? listed : listed.activations_kept_by_layer(false);
}

}  // namespace stepwright::plan

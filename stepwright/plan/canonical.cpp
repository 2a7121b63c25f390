#include "stepwright/plan/canonical.h"

#include "stepwright/plan/effects.h"
#include "stepwright/plan/job.h"
#include "stepwright/schedule/kinds.h"

namespace stepwright::plan {
namespace {

void settle_sharding(Sharding& sharding, const Parallel& sizes, const Job& job) {
  const auto replace = [&sharding](Spread from, Spread to) {
    for (Spread* state : {&sharding.parameters, &sharding.gradients, &sharding.optimizer}) {
      if (*state == from) *state = to;
    }
    sharding.group = sharding.expert_group = 1;
  };
  if (!reduces_gradients(job, sizes)) replace(Spread::kGlobal, Spread::kNone);
  if (!sharding.uses(Spread::kInner)) return;
  const bool experts = job.model.experts.has_value();
  if (sharding.group == 1 && (!experts || sharding.expert_group == 1)) {
    replace(Spread::kInner, Spread::kNone);
  } else if (sharding.group == sizes.context * sizes.data &&
             (!experts || sharding.expert_group == sizes.expert_data())) {
    replace(Spread::kInner, Spread::kGlobal);
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

OffloadModuleSet effective_offload_modules(OffloadModuleSet listed, const Recompute& recompute) {
  bool every = true;
  bool any = false;
  each_setting(recompute, [&](const Recompute& setting) {
    every = every && common_layer_recompute(setting).whole;
    any = any || recomputed_layer_part(setting).whole;
  });
  if (every) return listed.kept_by_layers(true);
  return any ? listed : listed.kept_by_layers(false);
}

}  // namespace stepwright::plan

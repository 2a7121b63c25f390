#include "stepwright/plan/frameworks/default_condition.h"

#include "stepwright/cluster/generation.h"

namespace stepwright::plan {

bool holds(DefaultCondition circumstance, const Job& job, const Plan& plan) {
  const Sharding& sharding = plan.sharding;
  switch (circumstance) {
    case DefaultCondition::kEverywhere: return true;
    case DefaultCondition::kNowhere: return false;
    case DefaultCondition::kOneStage: return plan.parallel.pipeline == 1;
    case DefaultCondition::kInterleaved: return plan.schedule.chunks > 1;
    case DefaultCondition::kReplicatedOptimizer: return sharding.optimizer == Spread::kNone;
    case DefaultCondition::kGradientsAsOptimizer: return sharding.gradients == sharding.optimizer;
    case DefaultCondition::kShardedGradients:
      return sharding.gradients != Spread::kNone || sharding.parameters != Spread::kNone;
    case DefaultCondition::kShardedParameters: return sharding.parameters != Spread::kNone;
    case DefaultCondition::kSequenceParallel: return plan.sequence_parallel;
    case DefaultCondition::kTensorOrContext:
      return plan.parallel.tensor > 1 || plan.parallel.context > 1;
    case DefaultCondition::kExpertOverlap: return plan.overlap.expert && plan.parallel.expert > 1;
    case DefaultCondition::kBlackwell:
      return cluster::device_generation_of(job.cluster.device).compute_capability >= 10;
  }
  return false;
}

}  // namespace stepwright::plan

#include "stepwright/plan/frameworks/default_condition.h"

#include "stepwright/cluster/generation.h"

namespace stepwright::plan {

bool default_condition_applies(FrameworkDefaultCondition circumstance, const Job& job,
                               const Plan& plan) {
  const Sharding& sharding = plan.sharding;
  switch (circumstance) {
    case FrameworkDefaultCondition::kEverywhere: return true;
    case FrameworkDefaultCondition::kNowhere: return false;
    case FrameworkDefaultCondition::kOneStage: return plan.parallel.pipeline == 1;
    case FrameworkDefaultCondition::kInterleaved: return plan.schedule.chunks > 1;
    case FrameworkDefaultCondition::kReplicatedOptimizer:
      return sharding.optimizer == StateShardingScope::kNone;
    case FrameworkDefaultCondition::kGradientsAsOptimizer:
      return sharding.gradients == sharding.optimizer;
    case FrameworkDefaultCondition::kShardedGradients:
      return sharding.gradients != StateShardingScope::kNone ||
             sharding.parameters != StateShardingScope::kNone;
    case FrameworkDefaultCondition::kShardedParameters:
      return sharding.parameters != StateShardingScope::kNone;
    case FrameworkDefaultCondition::kSequenceParallel: return plan.sequence_parallel;
    case FrameworkDefaultCondition::kTensorOrContext:
      return plan.parallel.tensor > 1 || plan.parallel.context > 1;
    case FrameworkDefaultCondition::kExpertOverlap:
      return plan.overlap.expert && plan.parallel.expert > 1;
    case FrameworkDefaultCondition::kBlackwell:
      return cluster::device_generation_of(job.cluster.device).compute_capability >= 10;
  }
  return false;
}

}  // namespace stepwright::plan

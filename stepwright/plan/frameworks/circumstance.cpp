#include "stepwright/plan/frameworks/circumstance.h"

#include "stepwright/cluster/generation.h"

namespace stepwright::plan {

bool holds(Circumstance circumstance, const Job& job, const Plan& plan) {
  const Sharding& sharding = plan.sharding;
  switch (circumstance) {
    case Circumstance::kEverywhere: return true;
    case Circumstance::kNowhere: return false;
    case Circumstance::kOneStage: return plan.parallel.pipeline == 1;
    case Circumstance::kInterleaved: return plan.schedule.chunks > 1;
    case Circumstance::kReplicatedOptimizer: return sharding.optimizer == Spread::kNone;
    case Circumstance::kGradientsAsOptimizer: return sharding.gradients == sharding.optimizer;
    case Circumstance::kShardedGradients:
      return sharding.gradients != Spread::kNone || sharding.parameters != Spread::kNone;
    case Circumstance::kShardedParameters: return sharding.parameters != Spread::kNone;
    case Circumstance::kSequenceParallel: return plan.sequence_parallel;
    case Circumstance::kTensorOrContext:
      return plan.parallel.tensor > 1 || plan.parallel.context > 1;
    case Circumstance::kExpertOverlap: return plan.overlap.expert && plan.parallel.expert > 1;
    case Circumstance::kBlackwell:
      return cluster::device_generation_of(job.cluster.device).compute_capability >= 10;
  }
  return false;
}

}  // namespace stepwright::plan

#include "stepwright/plan/state_types.h"

#include "stepwright/plan/canonical.h"

namespace stepwright::plan {
namespace {

/// Types of states for the job's optimizer; `alone`: parameters are sharded as its states are.
StateDataTypes types_of(const Job& job, DType gradient, bool alone) {
  const DType storage = parameter_storage_type(job.precision);
  StateDataTypes types = master_copy_state_types(storage, gradient);
  if (job.kernels.masters == MasterWeights::kNone) types.master = types.stored;
  if (job.kernels.masters == MasterWeights::kAlone && alone) types.stored = types.master;
  return types;
}

}  // namespace

StateDataTypes state_types(const Job& job, const Plan& plan) {
  const Sharding sharding = canonical_sharding(job, plan);
  const bool alike =
      sharding.parameters != StateShardingScope::kNone && sharding.parameters == sharding.optimizer;
  StateDataTypes types = types_of(job, plan.accumulate, alike);
  // In PyTorch, gradients have the type of their parameters: pytorch/pytorch
  // torch/distributed/fsdp/_fully_shard/_fsdp_collectives.py, foreach_reduce: orig_dtype.
  const bool as_parameters = job.kernels.masters != MasterWeights::kBeside;
  if (as_parameters && sharding.gradients != StateShardingScope::kNone)
    types.gradient = types.master;
  return types;
}

OtherModelCounts other_models(const Job& job) {
  const TrainingMethod& method = job.method;
  const auto reference = [&](SecondModelPlace place) {
    return method.reference.place == place && !job.model.adapters ? 1 : 0;
  };
  const int critic = method.critic.place == SecondModelPlace::kSame ? 1 : 0;
  return {.parameters = reference(SecondModelPlace::kSame) + critic,
          .updates = critic,
          .on_hosts = reference(SecondModelPlace::kHost)};
}

StateDataTypes smallest_state_types(const Job& job) {
  return types_of(job, parameter_storage_type(job.precision), true);
}

}  // namespace stepwright::plan

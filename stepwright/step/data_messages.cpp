#include "stepwright/step/data_messages.h"

#include <tuple>

namespace stepwright::step {
namespace {

constexpr DataMessage gather(DataParallelMessageGroup reach) {
  return {OperatorKind::kAllGather, reach};
}
constexpr DataMessage scatter(DataParallelMessageGroup reach) {
  return {OperatorKind::kReduceScatter, reach};
}
constexpr DataMessage sum(DataParallelMessageGroup reach) {
  return {OperatorKind::kAllReduce, reach};
}

/// The group over which a state with this spread is divided.
constexpr DataParallelMessageGroup reach_of(plan::StateShardingScope spread) {
  return spread == plan::StateShardingScope::kInner ? DataParallelMessageGroup::kInner
                                                    : DataParallelMessageGroup::kWorld;
}

/// Returns the messages of the last backward: they turn gradients, in the spread in which backwards
/// leave them, into the gradients that each optimizer rank needs.
DataParallelMessages last_reductions(plan::StateShardingScope gradients,
                                     plan::StateShardingScope optimizer, bool scattered) {
  if (gradients == plan::StateShardingScope::kGlobal) return {};
  const bool whole = !scattered && gradients == plan::StateShardingScope::kNone;
  if (optimizer == plan::StateShardingScope::kNone || whole)
    return {sum(DataParallelMessageGroup::kWorld)};
  if (gradients == plan::StateShardingScope::kInner) {
    return {optimizer == plan::StateShardingScope::kInner
                ? sum(DataParallelMessageGroup::kOuter)
                : scatter(DataParallelMessageGroup::kOuter)};
  }
  if (optimizer == plan::StateShardingScope::kInner)
    return {scatter(DataParallelMessageGroup::kInner), sum(DataParallelMessageGroup::kOuter)};
  return {scatter(DataParallelMessageGroup::kWorld)};
}

}  // namespace

DataParallelMessages data_parallel_messages_of_sharding(const plan::Sharding& sharding,
                                                        DataParallelMessageMoment moment,
                                                        bool scattered) {
  const auto [p, g, os] = std::tuple(sharding.parameters, sharding.gradients, sharding.optimizer);
  switch (moment) {
    case DataParallelMessageMoment::kEachUse:
      if (p == plan::StateShardingScope::kNone) return {};
      return {gather(reach_of(p))};
    case DataParallelMessageMoment::kEachBackward:
      if (g == plan::StateShardingScope::kNone) return {};
      return {scatter(reach_of(g))};
    case DataParallelMessageMoment::kLastBackward: return last_reductions(g, os, scattered);
    case DataParallelMessageMoment::kAfterStep:
      if (p == os) return {};
      return {gather(p == plan::StateShardingScope::kInner ? DataParallelMessageGroup::kOuter
                                                           : reach_of(os))};
  }
  return {};
}

std::int64_t ShardingGroups::state_shard_count(plan::StateShardingScope spread) const {
  if (spread == plan::StateShardingScope::kNone) return 1;
  return spread == plan::StateShardingScope::kInner ? inner : world;
}

plan::CommunicatorKind ShardingGroups::group(DataParallelMessageGroup reach) const {
  if (reach == DataParallelMessageGroup::kWorld) return world_group;
  return reach == DataParallelMessageGroup::kInner ? inner_group : outer_group;
}

std::int64_t ShardingGroups::ranks(DataParallelMessageGroup reach) const {
  if (reach == DataParallelMessageGroup::kWorld) return world;
  return reach == DataParallelMessageGroup::kInner ? inner : outer();
}

std::int64_t ShardingGroups::data_parallel_payload_elements(
    const ModelBlockParameterCounts& size, DataParallelMessageMoment moment) const {
  const bool use = moment == DataParallelMessageMoment::kEachUse;
  const bool with_user = use || moment == DataParallelMessageMoment::kEachBackward;
  const std::int64_t unused = use ? frozen(size) + (routed ? 0 : size.frozen_borrowed) : 0;
  return sharded_trained_elements(size) + (with_user && !routed ? size.borrowed : 0) + unused;
}

StateCopies offloaded_state_copy_elements(const plan::Job& job, const plan::Plan& plan,
                                          const ShardingGroups& spread,
                                          const ModelBlockParameterCounts& size,
                                          DataParallelMessageMoment moment) {
  const plan::StateDataTypes types = plan::state_types(job, plan);
  const DType storage = plan::parameter_storage_type(job.precision);
  const std::int64_t all = spread.data_parallel_payload_elements(size, moment);
  const auto part = [&](plan::StateShardingScope states, std::int64_t elements) {
    return ceil_divide(elements, spread.state_shard_count(states));
  };
  if (moment_carries_gradients(moment))
    return {{{types.gradient, part(plan.sharding.gradients, all)}, {}}};
  const plan::StateShardingScope states = plan.sharding.parameters;
  if (types.stored == storage) return {{{storage, part(states, all)}, {}}};
  const std::int64_t trained =
      spread.data_parallel_payload_elements(size, DataParallelMessageMoment::kEachBackward);
  return {{{types.stored, part(states, trained)}, {storage, part(states, all - trained)}}};
}

ShardingGroups dense_spread(const plan::Plan& plan) {
  return {.inner = plan.sharding.group,
          .world = plan.parallel.data * plan.parallel.context,
          .inner_group = plan::CommunicatorKind::kShardInner,
          .outer_group = plan::CommunicatorKind::kShardOuter,
          .world_group = plan::CommunicatorKind::kDataContext};
}

ShardingGroups routed_spread(const plan::Plan& plan) {
  return {.inner = plan.sharding.expert_group,
          .world = std::max<std::int64_t>(1, plan.parallel.expert_data_degree()),
          .inner_group = plan::CommunicatorKind::kExpertShardInner,
          .outer_group = plan::CommunicatorKind::kExpertShardOuter,
          .world_group = plan::CommunicatorKind::kExpertData,
          .routed = true};
}

std::int64_t state_shard_elements(const plan::Plan& plan, plan::StateShardingScope spread,
                                  const ModelBlockParameterCounts& size) {
  return ceil_divide(size.dense, dense_spread(plan).state_shard_count(spread)) +
         ceil_divide(size.expert, routed_spread(plan).state_shard_count(spread));
}

std::int64_t frozen_state_shard_elements(const plan::Plan& plan, plan::StateShardingScope spread,
                                         const ModelBlockParameterCounts& size) {
  return ceil_divide(size.frozen_dense, dense_spread(plan).state_shard_count(spread)) +
         ceil_divide(size.frozen_expert, routed_spread(plan).state_shard_count(spread));
}

std::int64_t frozen_state_shard_elements(const plan::Plan& plan,
                                         const ModelBlockParameterCounts& size) {
  return frozen_state_shard_elements(plan, plan.sharding.parameters, size);
}

std::int64_t bucket_elements(const plan::Plan& plan, DataParallelMessageMoment moment) {
  if (moment == DataParallelMessageMoment::kEachUse) return 0;
  return moment == DataParallelMessageMoment::kAfterStep ? plan.parameter_bucket
                                                         : plan.gradient_bucket;
}

bool reduces_in_buckets(const plan::Plan& plan) {
  return plan.overlap.gradients || plan.sharding.gradients != plan::StateShardingScope::kNone;
}

bool gathers_updates_by_block(const plan::Plan& plan) { return plan.overlap.parameters; }

std::array<StepEndMessage, 3> partial_gradient_all_reduces(const plan::Plan& plan,
                                                           const StepEndSumSizes& end) {
  const std::int64_t state_shard_count =
      dense_spread(plan).state_shard_count(plan.sharding.gradients);
  const std::int64_t routed_divisor =
      routed_spread(plan).state_shard_count(plan.sharding.gradients);
  return {{{.group = plan::CommunicatorKind::kTensor,
            .elements = ceil_divide(end.partial, state_shard_count),
            .type = plan.accumulate,
            .name = "gradients.replicated",
            .purpose = OperatorPurpose::kReduceReplicated,
            .scheme = ParallelismScheme::kTensor},
           {.group = plan::CommunicatorKind::kExpertTensor,
            .elements = ceil_divide(end.expert_partial, routed_divisor),
            .type = plan.accumulate,
            .name = "gradients.replicated",
            .purpose = OperatorPurpose::kReduceReplicated,
            .scheme = ParallelismScheme::kTensor},
           {.group = plan::CommunicatorKind::kEmbedding,
            .elements = ceil_divide(end.tied_table, state_shard_count),
            .type = plan.accumulate,
            .name = "gradients.tied_table",
            .purpose = OperatorPurpose::kReduceTiedTable,
            .scheme = ParallelismScheme::kPipeline}}};
}

std::array<StepEndMessage, 5> step_statistics_all_reduces(const StepEndSumSizes& end, DType exact) {
  const auto number = [&](plan::CommunicatorKind group, std::int64_t elements,
                          std::string_view name, OperatorPurpose purpose) {
    return StepEndMessage{group, elements, exact, name, purpose, ParallelismScheme::kControl};
  };
  return {number(plan::CommunicatorKind::kNorm, 1, "gradient_norm", OperatorPurpose::kShareNorm),
          number(plan::CommunicatorKind::kExpertNorm, end.experts ? 1 : 0, "gradient_norm",
                 OperatorPurpose::kShareNorm),
          number(plan::CommunicatorKind::kDataContext, end.loss ? 2 : 0, "loss",
                 OperatorPurpose::kShareLoss),
          number(plan::CommunicatorKind::kTensor, end.shares_rows ? end.loads : 0, "router.loads",
                 OperatorPurpose::kShareLoads),
          number(plan::CommunicatorKind::kDataContext, end.loads, "router.loads",
                 OperatorPurpose::kShareLoads)};
}

}  // namespace stepwright::step

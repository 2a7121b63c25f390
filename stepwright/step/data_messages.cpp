#include "stepwright/step/data_messages.h"

#include <tuple>

namespace stepwright::step {
namespace {

constexpr DataMessage gather(DataMessageGroup reach) { return {OperatorKind::kAllGather, reach}; }
constexpr DataMessage scatter(DataMessageGroup reach) {
  return {OperatorKind::kReduceScatter, reach};
}
constexpr DataMessage sum(DataMessageGroup reach) { return {OperatorKind::kAllReduce, reach}; }

/// The group over which a state with this spread is divided.
constexpr DataMessageGroup reach_of(plan::Spread spread) {
  return spread == plan::Spread::kInner ? DataMessageGroup::kInner : DataMessageGroup::kWorld;
}

/// Returns the messages of the last backward: they turn gradients, in the spread in which backwards
/// leave them, into the gradients that each optimizer rank needs.
DataParallelMessages last_reductions(plan::Spread gradients, plan::Spread optimizer,
                                     bool scattered) {
  if (gradients == plan::Spread::kGlobal) return {};
  const bool whole = !scattered && gradients == plan::Spread::kNone;
  if (optimizer == plan::Spread::kNone || whole) return {sum(DataMessageGroup::kWorld)};
  if (gradients == plan::Spread::kInner) {
    return {optimizer == plan::Spread::kInner ? sum(DataMessageGroup::kOuter)
                                              : scatter(DataMessageGroup::kOuter)};
  }
  if (optimizer == plan::Spread::kInner)
    return {scatter(DataMessageGroup::kInner), sum(DataMessageGroup::kOuter)};
  return {scatter(DataMessageGroup::kWorld)};
}

}  // namespace

DataParallelMessages sharding_messages(const plan::Sharding& sharding, DataParallelMoment moment,
                                       bool scattered) {
  const auto [p, g, os] = std::tuple(sharding.parameters, sharding.gradients, sharding.optimizer);
  switch (moment) {
    case DataParallelMoment::kEachUse:
      if (p == plan::Spread::kNone) return {};
      return {gather(reach_of(p))};
    case DataParallelMoment::kEachBackward:
      if (g == plan::Spread::kNone) return {};
      return {scatter(reach_of(g))};
    case DataParallelMoment::kLastBackward: return last_reductions(g, os, scattered);
    case DataParallelMoment::kAfterStep:
      if (p == os) return {};
      return {gather(p == plan::Spread::kInner ? DataMessageGroup::kOuter : reach_of(os))};
  }
  return {};
}

std::int64_t ShardingGroups::state_shard_count(plan::Spread spread) const {
  if (spread == plan::Spread::kNone) return 1;
  return spread == plan::Spread::kInner ? inner : world;
}

plan::GroupKind ShardingGroups::group(DataMessageGroup reach) const {
  if (reach == DataMessageGroup::kWorld) return world_group;
  return reach == DataMessageGroup::kInner ? inner_group : outer_group;
}

std::int64_t ShardingGroups::ranks(DataMessageGroup reach) const {
  if (reach == DataMessageGroup::kWorld) return world;
  return reach == DataMessageGroup::kInner ? inner : outer();
}

std::int64_t ShardingGroups::payload(const BlockParameterSizes& size,
                                     DataParallelMoment moment) const {
  const bool use = moment == DataParallelMoment::kEachUse;
  const bool with_user = use || moment == DataParallelMoment::kEachBackward;
  const std::int64_t unused = use ? frozen(size) + (routed ? 0 : size.frozen_borrowed) : 0;
  return held(size) + (with_user && !routed ? size.borrowed : 0) + unused;
}

StateCopies host_state_copies(const plan::Job& job, const plan::Plan& plan,
                              const ShardingGroups& spread, const BlockParameterSizes& size,
                              DataParallelMoment moment) {
  const plan::StateDataTypes types = plan::state_types(job, plan);
  const DType storage = plan::parameter_storage_type(job.precision);
  const std::int64_t all = spread.payload(size, moment);
  const auto part = [&](plan::Spread states, std::int64_t elements) {
    return ceil_divide(elements, spread.state_shard_count(states));
  };
  if (carries_gradients(moment))
    return {{{types.gradient, part(plan.sharding.gradients, all)}, {}}};
  const plan::Spread states = plan.sharding.parameters;
  if (types.stored == storage) return {{{storage, part(states, all)}, {}}};
  const std::int64_t trained = spread.payload(size, DataParallelMoment::kEachBackward);
  return {{{types.stored, part(states, trained)}, {storage, part(states, all - trained)}}};
}

ShardingGroups dense_spread(const plan::Plan& plan) {
  return {.inner = plan.sharding.group,
          .world = plan.parallel.data * plan.parallel.context,
          .inner_group = plan::GroupKind::kShardInner,
          .outer_group = plan::GroupKind::kShardOuter,
          .world_group = plan::GroupKind::kDataContext};
}

ShardingGroups routed_spread(const plan::Plan& plan) {
  return {.inner = plan.sharding.expert_group,
          .world = std::max<std::int64_t>(1, plan.parallel.expert_data()),
          .inner_group = plan::GroupKind::kExpertShardInner,
          .outer_group = plan::GroupKind::kExpertShardOuter,
          .world_group = plan::GroupKind::kExpertData,
          .routed = true};
}

std::int64_t state_shard_elements(const plan::Plan& plan, plan::Spread spread,
                                  const BlockParameterSizes& size) {
  return ceil_divide(size.dense, dense_spread(plan).state_shard_count(spread)) +
         ceil_divide(size.expert, routed_spread(plan).state_shard_count(spread));
}

std::int64_t frozen_state_shard_elements(const plan::Plan& plan, plan::Spread spread,
                                         const BlockParameterSizes& size) {
  return ceil_divide(size.frozen_dense, dense_spread(plan).state_shard_count(spread)) +
         ceil_divide(size.frozen_expert, routed_spread(plan).state_shard_count(spread));
}

std::int64_t frozen_state_shard_elements(const plan::Plan& plan, const BlockParameterSizes& size) {
  return frozen_state_shard_elements(plan, plan.sharding.parameters, size);
}

std::int64_t bucket_elements(const plan::Plan& plan, DataParallelMoment moment) {
  if (moment == DataParallelMoment::kEachUse) return 0;
  return moment == DataParallelMoment::kAfterStep ? plan.parameter_bucket : plan.gradient_bucket;
}

bool reduces_in_buckets(const plan::Plan& plan) {
  return plan.overlap.gradients || plan.sharding.gradients != plan::Spread::kNone;
}

bool gathers_updates_by_block(const plan::Plan& plan) { return plan.overlap.parameters; }

std::array<StepEndMessage, 3> partial_gradient_all_reduces(const plan::Plan& plan,
                                                           const StepEndSumSizes& end) {
  const std::int64_t state_shard_count =
      dense_spread(plan).state_shard_count(plan.sharding.gradients);
  const std::int64_t routed_divisor =
      routed_spread(plan).state_shard_count(plan.sharding.gradients);
  return {{{.group = plan::GroupKind::kTensor,
            .elements = ceil_divide(end.partial, state_shard_count),
            .type = plan.accumulate,
            .name = "gradients.replicated",
            .purpose = Purpose::kReduceReplicated,
            .scheme = Scheme::kTensor},
           {.group = plan::GroupKind::kExpertTensor,
            .elements = ceil_divide(end.expert_partial, routed_divisor),
            .type = plan.accumulate,
            .name = "gradients.replicated",
            .purpose = Purpose::kReduceReplicated,
            .scheme = Scheme::kTensor},
           {.group = plan::GroupKind::kEmbedding,
            .elements = ceil_divide(end.tied_table, state_shard_count),
            .type = plan.accumulate,
            .name = "gradients.tied_table",
            .purpose = Purpose::kReduceTiedTable,
            .scheme = Scheme::kPipeline}}};
}

std::array<StepEndMessage, 5> step_statistics_all_reduces(const StepEndSumSizes& end, DType exact) {
  const auto number = [&](plan::GroupKind group, std::int64_t elements, std::string_view name,
                          Purpose purpose) {
    return StepEndMessage{group, elements, exact, name, purpose, Scheme::kControl};
  };
  return {number(plan::GroupKind::kNorm, 1, "gradient_norm", Purpose::kShareNorm),
          number(plan::GroupKind::kExpertNorm, end.experts ? 1 : 0, "gradient_norm",
                 Purpose::kShareNorm),
          number(plan::GroupKind::kDataContext, end.loss ? 2 : 0, "loss", Purpose::kShareLoss),
          number(plan::GroupKind::kTensor, end.shares_rows ? end.loads : 0, "router.loads",
                 Purpose::kShareLoads),
          number(plan::GroupKind::kDataContext, end.loads, "router.loads", Purpose::kShareLoads)};
}

}  // namespace stepwright::step

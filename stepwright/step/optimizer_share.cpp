#include "stepwright/step/optimizer_share.h"

#include <algorithm>

#include "stepwright/core/divide_up.h"
#include "stepwright/core/dtype.h"
#include "stepwright/plan/frameworks/defaults.h"
#include "stepwright/plan/optimizer_traits.h"

namespace stepwright::step {
namespace {

/// Returns the matrices of the rank that holds most of them.
OptimizerMatrixSizes of_one(const OptimizerMatrixSizes& all, std::int64_t ranks) {
  if (ranks <= 1 || all.count == 0) return all;
  const std::int64_t count = ceil_divide(all.count, ranks);
  const auto part = [&](std::int64_t whole) {
    return whole / all.count * count + ceil_divide(whole % all.count * count, all.count);
  };
  return {.elements = part(all.elements),
          .count = count,
          .cut_updates = part(all.cut_updates),
          .flops = part(all.flops),
          .payload = part(all.payload)};
}

/// Adds the parameters of one kind, dense or routed.
void add(OptimizerShare& share, const plan::Job& job, const plan::Plan& plan,
         const ModelBlockParameterCounts& size, const ShardingGroups& spread) {
  const std::int64_t ranks = spread.state_shard_count(plan.sharding.optimizer);
  const OptimizerMatrixSizes& all = size.matrices(spread.routed);
  const bool orthogonal = job.optimizer == plan::Optimizer::kMuon;
  const bool whole = orthogonal && plan.sharding.gradients == plan::StateShardingScope::kNone;
  const OptimizerMatrixSizes mine = of_one(all, ranks);
  std::int64_t others = ceil_divide(spread.sharded_trained_elements(size) - all.elements, ranks);
  if (whole && !job.kernels.scattered_gradients && ranks > 1 && !spread.routed) {
    others = std::max(others, size.largest_table);
  }
  const std::int64_t matrices = whole ? mine.elements : ceil_divide(all.elements, ranks);
  share.elements += others + matrices;
  share.matrix_elements += matrices;
  share.numbers += ceil_divide(all.numbers, ranks);
  (spread.routed ? share.expert : share.dense) = orthogonal ? mine : all;
  if (!orthogonal) return;
  share.moves_shards |= !whole && ranks > 1 && all.count > 0;
}

}  // namespace

OptimizerShare optimizer_share(const plan::Job& job, const plan::Plan& plan,
                               const ModelBlockParameterCounts& size) {
  OptimizerShare share;
  add(share, job, plan, size, dense_spread(plan));
  add(share, job, plan, size, routed_spread(plan));
  return share;
}

std::int64_t optimizer_moment_bytes(plan::Optimizer optimizer, const plan::StateDataTypes& types,
                                    const OptimizerShare& share) {
  const plan::OptimizerTraits& traits = plan::traits_of(optimizer);
  const std::int64_t matrices = share.matrix_elements;
  const std::int64_t alone = share.elements - matrices;
  const auto bytes = [&](std::int64_t elements, bool of_matrix) {
    return bytes_of_centibits(
        elements, plan::optimizer_moment_hundredth_bits_per_element(traits, types, of_matrix));
  };
  return bytes(alone, false) + bytes(matrices, true) +
         plan::moment_sum_or_scale_bytes(types) * share.numbers;
}

std::int64_t optimizer_state_bytes(plan::Optimizer optimizer, const plan::StateDataTypes& types,
                                   const OptimizerShare& share) {
  return plan::master_copy_bytes(types) * share.elements +
         optimizer_moment_bytes(optimizer, types, share);
}

std::int64_t optimizer_update_bytes_per_element(plan::Optimizer optimizer,
                                                const plan::StateDataTypes& types,
                                                const OptimizerShare& share) {
  const std::int64_t copy = types.has_master_copies() ? bytes_of_elements(types.stored, 1) : 0;
  const std::int64_t each =
      bytes_of_elements(types.gradient, 1) + 2 * bytes_of_elements(types.master, 1) + copy;
  const std::int64_t elements = std::max<std::int64_t>(1, share.elements);
  return each + ceil_divide(2 * optimizer_moment_bytes(optimizer, types, share), elements);
}

std::int64_t host_updated_elements(const plan::Plan& plan, const OptimizerShare& share) {
  return static_cast<std::int64_t>(plan.offload.optimizer * static_cast<double>(share.elements));
}

std::int64_t offloaded_state_bytes(const plan::Job& job, const plan::Plan& plan,
                                   const OptimizerShare& share) {
  if (plan.offload.optimizer == 0) return 0;
  const plan::StateDataTypes types = plan::state_types(job, plan);
  const std::int64_t moments = optimizer_moment_bytes(job.optimizer, types, share);
  const std::int64_t masters =
      plan.offload.masters ? plan::master_copy_bytes(types) * share.elements : 0;
  return static_cast<std::int64_t>(plan.offload.optimizer * static_cast<double>(moments + masters));
}

HostModelStateBytes host_model_state_bytes(const plan::Job& job, const plan::Plan& plan,
                                           const ModelBlockParameterCounts& size) {
  const plan::OtherModelCounts others = plan::other_models(job);
  const plan::HostOffload& offload = plan.offload;
  if (offload.optimizer == 0 && !offload.parameters && others.on_hosts == 0) return {};
  const plan::StateDataTypes types = plan::state_types(job, plan);
  const std::int64_t moved = host_updated_elements(plan, optimizer_share(job, plan, size));
  const std::int64_t frozen = bytes_of_elements(plan::parameter_storage_type(job.precision),
                                                frozen_state_shard_elements(plan, size));
  const std::int64_t trained =
      bytes_of_elements(types.stored, state_shard_elements(plan, plan.sharding.parameters, size));
  auto own = static_cast<std::int64_t>(plan::host_update_bytes_per_parameter(job.optimizer, types) *
                                       static_cast<double>(moved));
  const std::int64_t gradients = (1 + others.updates) * bytes_of_elements(types.master, moved);
  std::int64_t resting = others.on_hosts;
  if (plan.offload.parameters) {
    own += frozen + (types.has_master_copies() ? trained : 0);
    resting += others.parameters - others.updates;
  }
  const std::int64_t bytes = (1 + others.updates) * own + resting * (trained + frozen);
  const double beside = plan::framework_defaults(job.framework).host_share;
  return {.states = bytes - gradients,
          .gradients = gradients,
          .pinned = static_cast<std::int64_t>(beside * static_cast<double>(bytes))};
}

}  // namespace stepwright::step

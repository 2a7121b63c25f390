#include "stepwright/tune/sharding_lower_bounds.h"

#include <algorithm>
#include <utility>

#include "stepwright/memory/memory.h"
#include "stepwright/plan/optimizer_traits.h"

namespace stepwright::tune {
namespace {

/// Most costs kept (some 300 bytes each); beyond it, costs that were not asked for since the last
/// `free_old_cached_costs` are freed.
constexpr std::size_t kMostCosts = 12288;

/// Returns the index of a kind in a list, adding it if it is new.
std::uint32_t index_in(ShardingKinds& kinds, const DataParallelChoice& kind) {
  const auto found = std::find(kinds.begin(), kinds.end(), kind);
  if (found != kinds.end()) return static_cast<std::uint32_t>(found - kinds.begin());
  kinds.push_back(kind);
  return static_cast<std::uint32_t>(kinds.size() - 1);
}

/// Returns only those fields of a choice on which its optimizer update depends.
DataParallelChoice update_of(const DataParallelChoice& data) {
  DataParallelChoice update = data;
  update.sharding.parameters = plan::StateShardingScope::kNone;
  update.gradient_bucket = update.parameter_bucket = 0;
  return update;
}

/// Returns a pipeline position that holds one parameter.
simulate::PipelinePositionCost of_one(step::ModelBlockParameterCounts size) {
  simulate::PipelinePositionCost position;
  position.size = size;
  position.units = position.trained_units = 1;
  return position;
}

}  // namespace

const ShardingChoiceTable& ShardingLowerBounds::table(const RankGridChoice& grid) {
  const auto [entry, fresh] = tables_.try_emplace(grid.data);
  ShardingChoiceTable& table = entry->second;
  if (!fresh) return table;
  // No optimizer keeps more states for elements in matrices than for others.
  const bool matrices =
      plan::traits_of(job_.optimizer).acts_on != plan::MatrixUpdateScope::kElements;
  const step::OptimizerMatrixSizes one{.elements = matrices ? 1 : 0, .count = matrices ? 1 : 0};
  const simulate::PipelinePositionCost dense = of_one({.dense = 1, .dense_matrices = one});
  const simulate::PipelinePositionCost expert = of_one({.expert = 1, .expert_matrices = one});
  const simulate::PipelinePositionCost frozen_dense = of_one({.frozen_dense = 1});
  const simulate::PipelinePositionCost frozen_expert = of_one({.frozen_expert = 1});
  ShardingKinds dense_kinds;
  ShardingKinds expert_kinds;
  ShardingKinds updates;
  plan::Plan plan = default_plan_of_rank_grid(job_, grid.parallel, grid.order);
  table.choices.reserve(grid.data->choices.size());
  for (const DataParallelChoice& data : grid.data->choices) {
    ShardingChoiceTable::Choice& choice = table.choices.emplace_back();
    choice.needs_parameter_gathers = data.needs_parameter_gathers();
    DataParallelChoice kind = data;
    kind.sharding.expert_group = 1;
    choice.dense = index_in(dense_kinds, kind);
    kind.sharding.expert_group = data.sharding.expert_group;
    kind.sharding.group = 1;
    choice.expert = index_in(expert_kinds, kind);
    choice.update = index_in(updates, update_of(data));
  }
  const bool late = grid.parallel.pipeline == 1 && memory::allocates_gradients_late(job_);
  const auto bytes_of_one = [&](const simulate::PipelinePositionCost& position) {
    const simulate::ShardedStateMemory memory = simulate::data_memory(job_, plan, position);
    return memory.states_bytes - (late ? memory.gradient_bytes : 0);
  };
  // A parameter that narrow matrix products multiply may take more bytes than others, or fewer.
  const auto bytes = [&](simulate::PipelinePositionCost position) {
    const double wide = bytes_of_one(position);
    if (!job_.kernels.narrow_parameters) return wide;
    position.size.narrow_dense = 1;
    return std::min(wide, bytes_of_one(position));
  };
  for (const DataParallelChoice& kind : dense_kinds) {
    write_choice_into_plan(kind, plan);
    table.dense_states.push_back({.dense = bytes(dense), .frozen_dense = bytes(frozen_dense)});
  }
  for (const DataParallelChoice& kind : expert_kinds) {
    write_choice_into_plan(kind, plan);
    table.expert_states.push_back({.expert = bytes(expert), .frozen_expert = bytes(frozen_expert)});
  }
  table.updates = updates.size();
  table.dense = interned(dense_kinds);
  table.expert = interned(expert_kinds);
  return table;
}

const std::vector<simulate::ShardingMessageCost>& ShardingLowerBounds::sharding_costs_of_position(
    const ShardingCostKey& side, const plan::Plan& grid,
    const simulate::PipelinePositionCost& stage) {
  if (const auto found = times_.find(side); found != times_.end()) return found->second;
  held_ += side.kinds->size();
  if (auto before = older_times_.extract(side)) {
    return times_.insert(std::move(before)).position->second;
  }
  std::vector<simulate::ShardingMessageCost>& list = times_[side];
  list.resize(side.kinds->size());
  const step::ShardingGroups none{.routed = side.routed};
  if (none.sharded_trained_elements(stage.size) + none.frozen(stage.size) == 0) return list;
  std::map<std::pair<std::int64_t, std::int64_t>, simulate::Layouts> layouts;
  plan::Plan plan = grid;
  for (std::size_t i = 0; i < list.size(); ++i) {
    write_choice_into_plan((*side.kinds)[i], plan);
    const auto [known, first] =
        layouts.try_emplace({plan.sharding.group, plan.sharding.expert_group});
    if (first) known->second = cost::rank_group_network_layouts(job_.cluster, plan::RankGrid(plan));
    simulate::add_sharding_message_cost(
        list[i], {cost_, job_, plan, known->second, stage},
        side.routed ? step::routed_spread(plan) : step::dense_spread(plan));
  }
  return list;
}

void ShardingLowerBounds::free_old_cached_costs() {
  if (held_ <= kMostCosts) return;
  older_times_ = std::move(times_);
  times_.clear();
  held_ = 0;
}

ShardingLowerBounds::ShardingMessageTimes ShardingLowerBounds::sharding_costs_of_position(
    const RankGridChoice& grid, const plan::OverlapFlags& overlap,
    const simulate::PipelinePositionCost& stage) {
  const ShardingChoiceTable& table = this->table(grid);
  plan::Plan plan = default_plan_of_rank_grid(job_, grid.parallel, grid.order);
  plan.overlap = overlap;
  const plan::ParallelismDegrees& size = grid.parallel;
  const std::array units{stage.units, stage.routed_units, stage.trained_units};
  const ShardingCostKey dense{.order = grid.order,
                              .sizes = {size.tensor, size.context, size.data, size.pipeline},
                              .size = stage.size,
                              .blocks = stage.blocks,
                              .resting = stage.resting,
                              .units = units,
                              .gradients_overlap = overlap.gradients,
                              .parameters_overlap = overlap.parameters,
                              .kinds = table.dense,
                              .routed = false};
  const ShardingCostKey routed{
      .order = grid.order,
      .sizes = {size.expert, size.expert_tensor, size.expert_data_degree(), size.pipeline},
      .size = stage.size,
      .blocks = stage.blocks,
      .resting = stage.resting,
      .units = units,
      .gradients_overlap = overlap.gradients,
      .parameters_overlap = overlap.parameters,
      .kinds = table.expert,
      .routed = true};
  return {&sharding_costs_of_position(dense, plan, stage),
          &sharding_costs_of_position(routed, plan, stage)};
}

}  // namespace stepwright::tune

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "stepwright/plan/layer_split.h"
#include "stepwright/plan/overlap_table.h"
#include "stepwright/schedule/closed_form.h"
#include "stepwright/schedule/kinds.h"
#include "stepwright/schedule/placement.h"
#include "stepwright/simulate/price/block_costs.h"
#include "stepwright/tune/subspace_search.h"

namespace stepwright::tune {
namespace {

constexpr double kUnbounded = std::numeric_limits<double>::infinity();

/// Returns the layers of each pipeline position; with `smallest`, of its smallest chunk only.
std::vector<std::int64_t> held_layers(const PipelineStageChoice& choice, std::int64_t layers,
                                      std::int64_t pipeline, bool smallest) {
  const schedule::ModelChunkPlacement placement =
      schedule::model_chunk_placement(choice.schedule, pipeline);
  const std::vector<std::int64_t> split =
      choice.layers.empty() ? plan::even_layer_split(layers, placement.model_chunk_count())
                            : choice.layers;
  std::vector<std::int64_t> held;
  for (std::int64_t position = 0; position < pipeline; ++position) {
    std::vector<std::int64_t> own;
    for (std::int64_t i = 0; i < placement.chunks(); ++i) {
      own.push_back(split[static_cast<std::size_t>(placement.model_chunk_index({position, i}))]);
    }
    held.push_back(smallest ? std::ranges::min(own)
                            : std::accumulate(own.begin(), own.end(), std::int64_t{0}));
  }
  return held;
}

bool turns_back(const PipelineStageChoice& choice) {
  return schedule::traits_of(choice.schedule.kind).placement ==
         schedule::ModelChunkPlacementKind::kV;
}

}  // namespace

const std::vector<std::int64_t>& SubspaceSearch::layers_per_position(
    const PipelineStageChoice& choice, std::int64_t pipeline) {
  const std::int64_t layers = job_.model.layers;
  if (!choice.layers.empty()) {
    return listed_layers_ = held_layers(choice, layers, pipeline, turns_back(choice));
  }
  const auto [entry, fresh] =
      even_layers_.try_emplace({pipeline, choice.schedule.kind, choice.schedule.chunks});
  if (fresh) entry->second = held_layers(choice, layers, pipeline, turns_back(choice));
  return entry->second;
}

/// Returns the least bytes of activations that wait for their backward, as a mean over the
/// positions: in 1F1B as many micro-batches as positions follow; where chunks go down and up again
/// at least one chunk; in the other schedules no fewer than in 1F1B.
double SubspaceSearch::activations_floor(const RankGridChoice& grid,
                                         const PipelineStageChoice& choice, std::int64_t m,
                                         double retained_bytes) {
  const std::int64_t p = grid.parallel.pipeline;
  const std::vector<std::int64_t>& held = layers_per_position(choice, p);
  const bool one_chunk = turns_back(choice);
  std::int64_t waiting_layers = 0;
  for (std::int64_t i = 0; i < p; ++i) {
    waiting_layers += (one_chunk ? 1 : std::min(m, p - i)) * held[static_cast<std::size_t>(i)];
  }
  return static_cast<double>(waiting_layers) / static_cast<double>(p) * retained_bytes;
}

bool SubspaceSearch::activations_exceed_memory(const RankGridChoice& grid,
                                               const PipelineStageChoice& choice,
                                               const LeastPlanWork& work,
                                               std::int64_t micro_batches, double states_bytes) {
  double retained = kUnbounded;
  plan::each_setting(choice.recompute, [&](const plan::ActivationRecomputation& setting) {
    retained = std::min(
        retained, work.min_retained_activation_bytes(plan::parts_recomputed_in_layers(setting)));
  });
  return is_over_device_memory(grid, choice, micro_batches, states_bytes, retained);
}

bool SubspaceSearch::is_over_device_memory(const RankGridChoice& grid,
                                           const PipelineStageChoice& choice,
                                           std::int64_t micro_batches, double states_bytes,
                                           double retained_bytes) {
  const double activations = activations_floor(grid, choice, micro_batches, retained_bytes);
  const double bytes = states_bytes + activations + reserve_.bytes(activations);
  return bytes * (1 - kLowerBoundRoundingShare) > goal_.room.device_bytes;
}

namespace {

/// Returns the parameters of a pipeline position of mean size.
step::ModelBlockParameterCounts mean_size(const RankGridChoice& grid, const LeastPlanWork& work) {
  const std::int64_t p = grid.parallel.pipeline;
  step::ModelBlockParameterCounts mean;
  mean.dense = work.size.dense / p;
  mean.expert = work.size.expert / p;
  mean.frozen_dense = work.size.frozen_dense / p;
  mean.frozen_expert = work.size.frozen_expert / p;
  return mean;
}

}  // namespace

SubspaceSearch::ShardedStateLowerBounds SubspaceSearch::states_floor(const RankGridChoice& grid,
                                                                     const LeastPlanWork& work,
                                                                     double activation_bytes) {
  simulate::PipelinePositionCost mean;
  mean.size = mean_size(grid, work);
  mean.resting.size.frozen_dense = work.resting.frozen_dense / grid.parallel.pipeline;
  mean.resting.size.frozen_expert = work.resting.frozen_expert / grid.parallel.pipeline;
  mean.units = mean.trained_units = 1;
  const ShardingLowerBounds::ShardingMessageTimes times =
      sharding_.sharding_costs_of_position(grid, plan::OverlapFlags{}, mean);
  const double rest = activation_bytes + reserve_.bytes(activation_bytes);
  ShardedStateLowerBounds floor{kUnbounded, kUnbounded};
  const ShardingChoiceTable& table = sharding_.table(grid);
  for (const ShardingChoiceTable::Choice& choice : table.choices) {
    const double bytes = table.states(choice).of(mean.size) + rest;
    floor.memory_bytes = std::min(floor.memory_bytes, bytes);
    if (bytes * (1 - kLowerBoundRoundingShare) > goal_.room.device_bytes && !goal_.least_memory)
      continue;
    floor.messages_s =
        std::min(floor.messages_s,
                 std::max(times.floor_s(choice, &simulate::ShardingMessageCost::gather) +
                              times.floor_s(choice, &simulate::ShardingMessageCost::regather),
                          times.floor_s(choice, &simulate::ShardingMessageCost::reduce)));
  }
  return floor;
}

double SubspaceSearch::min_model_state_bytes(const RankGridChoice& grid,
                                             const LeastPlanWork& work) {
  if (states_of_ == &grid) return states_bytes_;
  states_of_ = &grid;
  states_bytes_ = kUnbounded;
  const step::ModelBlockParameterCounts mean = mean_size(grid, work);
  const ShardingChoiceTable& table = sharding_.table(grid);
  for (const ShardingChoiceTable::Choice& choice : table.choices) {
    states_bytes_ = std::min(states_bytes_, table.states(choice).of(mean));
  }
  return states_bytes_;
}

/// True if a pipeline cannot fit even with the least states that its grid allows, judged by its
/// mean position.
bool SubspaceSearch::too_large(const UnshardedPipeline& stages, const SearchSubspace& unit) {
  if (!may_skip_slow_or_large_plans() || stages.costs == nullptr) return false;
  if (least_states_of_ != stages.grid) {
    least_states_of_ = stages.grid;
    least_states_ = {kUnbounded, kUnbounded, kUnbounded, kUnbounded};
    const ShardingChoiceTable& table = sharding_.table(*stages.grid);
    for (const ShardingChoiceTable::Choice& choice : table.choices) {
      const StateBytesPerParameter states = table.states(choice);
      for (double StateBytesPerParameter::* part :
           {&StateBytesPerParameter::dense, &StateBytesPerParameter::expert,
            &StateBytesPerParameter::frozen_dense, &StateBytesPerParameter::frozen_expert}) {
        least_states_.*part = std::min(least_states_.*part, states.*part);
      }
    }
  }
  double retained = kUnbounded;
  plan::each_setting(stages.choice->recompute, [&](const plan::ActivationRecomputation& setting) {
    const std::size_t place =
        stages.costs->cost_index_of_recomputation(plan::parts_recomputed_in_layers(setting));
    for (const simulate::ModelBlockCosts::Layer& layer : stages.costs->layers) {
      retained = std::min(retained, layer.cost_at_place(place).cost.forward.retained_bytes);
    }
  });
  const std::int64_t rounds = job_.sequences / (stages.grid->parallel.data * unit.micro_batch);
  const double states_bytes = min_model_state_bytes(*stages.grid, *unit.work);
  return is_over_device_memory(*stages.grid, *stages.choice, rounds, states_bytes, retained) ||
         position_too_large(stages, rounds);
}

/// True if the layers of some position alone cannot fit: their least states, and the activations
/// that wait for their backward in a schedule with closed forms.
bool SubspaceSearch::position_too_large(const UnshardedPipeline& stages,
                                        std::int64_t micro_batches) const {
  const PipelineStageChoice& choice = *stages.choice;
  if (!schedule::has_closed_form_schedule_time(choice.schedule.kind)) return false;
  const std::int64_t pipeline = stages.grid->parallel.pipeline;
  const schedule::ModelChunkPlacement placement =
      schedule::model_chunk_placement(choice.schedule, pipeline);
  const auto waiting = schedule::definition_of(choice.schedule.kind).form.waiting;
  const std::vector<std::int64_t> split =
      choice.layers.empty()
          ? plan::even_layer_split(job_.model.layers, placement.model_chunk_count())
          : choice.layers;
  std::vector<std::int64_t> starts{0};
  for (const std::int64_t layers : split) starts.push_back(starts.back() + layers);
  std::vector<double> states;
  for (const simulate::ModelBlockCosts::Layer& layer : stages.costs->layers) {
    states.push_back(least_states_.of(layer.size));
  }
  std::vector<double> retained(states.size());
  for (std::int64_t position = 0; position < pipeline; ++position) {
    const std::size_t place =
        stages.costs->cost_index_of_recomputation(plan::parts_recomputed_in_layers(
            plan::recompute_of_pipeline_rank(choice.recompute, position)));
    for (std::size_t k = 0; k < retained.size(); ++k) {
      retained[k] = stages.costs->layers[k].cost_at_place(place).cost.forward.retained_bytes;
    }
    double states_bytes = 0;
    double waiting_bytes = 0;
    for (std::int64_t i = 0; i < placement.chunks(); ++i) {
      const auto chunk = static_cast<std::size_t>(placement.model_chunk_index({position, i}));
      const auto waits = static_cast<double>(waiting(
          {pipeline, position, micro_batches, choice.schedule.chunks, choice.schedule.group}, i));
      states_bytes += work_.layers().sum_over_layers(states, starts[chunk], starts[chunk + 1]);
      waiting_bytes +=
          waits * work_.layers().sum_over_layers(retained, starts[chunk], starts[chunk + 1]);
    }
    const double bytes = states_bytes + waiting_bytes + reserve_.bytes(waiting_bytes);
    if (bytes * (1 - kLowerBoundRoundingShare) > goal_.room.device_bytes) return true;
  }
  return false;
}

const LeastPlanWork& SubspaceSearch::work_lower_bound_of_subspace(
    const RankGridChoice& grid, const SearchSubspace& part, const plan::OverlapFlags& overlap) {
  const LeastPlanWork& own =
      work_.work_lower_bound_of_plan(default_plan_of_subspace(job_, part, grid), overlap);
  if (grid.parallel.context == 1) return own;
  const auto [entry, fresh] = works_of_unit_.try_emplace({grid.blocks.data(), overlap});
  if (fresh) entry->second = with_least_context_messages(own, grid, part);
  return entry->second;
}

/// Returns `own` with the cheapest messages among the ways in which the blocks of a grid exchange
/// the context.
LeastPlanWork SubspaceSearch::with_least_context_messages(const LeastPlanWork& own,
                                                          const RankGridChoice& grid,
                                                          const SearchSubspace& part) {
  std::optional<LeastPlanWork> least;
  std::vector<const ModelBlockChoice*> seen;
  for (const ModelBlockChoice& block : grid.blocks) {
    const bool same = std::ranges::any_of(seen, [&](const ModelBlockChoice* other) {
      return has_same_context_parallel_exchange(*other, block);
    });
    if (same) continue;
    seen.push_back(&block);
    const plan::Plan plan = block_plan(grid, block, part.micro_batch);
    LeastPlanWork work = work_.add_context_parallel_message_time(own, plan);
    least =
        least ? stepwright::tune::member_wise_minimum(*std::move(least), work) : std::move(work);
  }
  return least.value_or(own);
}

/// Visits the stage choices of a grid that recompute least, with every split into layers.
template <class VisitorCallback>
void SubspaceSearch::each_least_work(const RankGridChoice& grid, const SearchSubspace& part,
                                     VisitorCallback&& visit) {
  const plan::Plan plan = default_plan_of_subspace(job_, part, grid);
  for (const PipelineStageChoice& choice : grid.stages->least_work.at(part.micro_batch)) {
    balanced_.each(choice, plan, visit);
  }
}

/// Returns the least floor over the pipelines of a grid, from the work of their blocks; infinite if
/// every floor is `settled`.
PipelineLowerBound SubspaceSearch::work_floor(const RankGridChoice& grid,
                                              const SearchSubspace& part,
                                              const LeastPlanWork& work) {
  const plan::Plan plan = default_plan_of_subspace(job_, part, grid);
  PipelineLowerBound least{kUnbounded, kUnbounded};
  for (const PipelineStageChoice& listed : grid.stages->least_work.at(part.micro_batch)) {
    each_floor(work, listed, plan,
               [&](const PipelineStageChoice&, const PipelineLowerBound& floor) {
                 least.price_s = std::min(least.price_s, floor.price_s);
                 least.simulated_s = std::min(least.simulated_s, floor.simulated_s);
               });
  }
  return least;
}

/// Returns `work_floor` for the work of all plans of a unit, which many units share.
const PipelineLowerBound& SubspaceSearch::shared_work_floor(const RankGridChoice& grid,
                                                            const SearchSubspace& part) {
  const std::int64_t rounds = job_.sequences / (grid.parallel.data * part.micro_batch);
  const PipelineStageChoice* choices = grid.stages->least_work.at(part.micro_batch).data();
  const auto [entry, fresh] =
      work_floors_.try_emplace({part.work, choices, grid.parallel.pipeline, rounds});
  if (fresh) entry->second = work_floor(grid, part, *part.work);
  return entry->second;
}

/// Returns the least floor over the pipelines of a grid that may fit, each with its own
/// recomputation and the overlap that the framework runs with it; infinite if none may fit or every
/// floor is `settled`.
PipelineLowerBound SubspaceSearch::fitting_floor(const RankGridChoice& grid,
                                                 const SearchSubspace& part, double states_bytes) {
  const plan::Plan plan = default_plan_of_subspace(job_, part, grid);
  const std::int64_t rounds = job_.sequences / (grid.parallel.data * part.micro_batch);
  std::vector<std::pair<plan::OverlapFlags, const LeastPlanWork*>> works;
  std::vector<
      std::pair<plan::FrameworkSupport::FrameworkPropertyCoupling, std::optional<std::size_t>>>
      known;
  // Index in `works` of the work of the blocks that the framework runs with a stage choice;
  // nullopt: it runs none.
  const auto work_with = [&](const PipelineStageChoice& choice) {
    const auto found =
        std::ranges::find(known, choice.joint,
                          &std::pair<plan::FrameworkSupport::FrameworkPropertyCoupling,
                                     std::optional<std::size_t>>::first);
    if (found != known.end()) return found->second;
    std::optional<std::size_t>& place = known.emplace_back(choice.joint, std::nullopt).second;
    std::vector<plan::OverlapFlags> overlaps;
    for (const ModelBlockChoice& block : grid.blocks) {
      if (grid.framework_allows_choices(block, choice)) overlaps.push_back(block.overlap);
    }
    if (overlaps.empty()) return place;
    const plan::OverlapFlags overlap = plan::overlap_flags_for_lower_bounds(overlaps);
    const auto same = std::ranges::find(
        works, overlap, &std::pair<plan::OverlapFlags, const LeastPlanWork*>::first);
    place = static_cast<std::size_t>(same - works.begin());
    if (same == works.end())
      works.emplace_back(overlap, &work_lower_bound_of_subspace(grid, part, overlap));
    return place;
  };
  PipelineLowerBound least{kUnbounded, kUnbounded};
  for (const PipelineStageChoice& listed : grid.stages->by_micro_batch.at(part.micro_batch)) {
    const std::optional<std::size_t> place = work_with(listed);
    if (!place ||
        activations_exceed_memory(grid, listed, *works[*place].second, rounds, states_bytes))
      continue;
    each_floor(*works[*place].second, listed, plan,
               [&](const PipelineStageChoice&, const PipelineLowerBound& floor) {
                 least.price_s = std::min(least.price_s, floor.price_s);
                 least.simulated_s = std::min(least.simulated_s, floor.simulated_s);
               });
  }
  return least;
}

void SubspaceSearch::refine_grid(const RankGridChoice& grid, SearchSubspace& part) {
  // Messages of the context and of states cost more to compute, and only raise floors.
  const auto decided = [&](const PipelineLowerBound& floor) {
    return beaten(goal_.bounds ? std::min(floor.price_s, floor.simulated_s) : floor.price_s);
  };
  const auto activations = [&] {
    const std::int64_t rounds = job_.sequences / (grid.parallel.data * part.micro_batch);
    double least = kUnbounded;
    each_least_work(grid, part, [&](const PipelineStageChoice& choice) {
      least =
          std::min(least, activations_floor(grid, choice, rounds, part.work->least_retained_bytes));
    });
    return least;
  };
  if (goal_.least_memory) {
    const ShardedStateLowerBounds states = states_floor(grid, *part.work, activations());
    part.floor = std::min(part.floor, states.memory_bytes);
    return;
  }
  PipelineLowerBound floor = shared_work_floor(grid, part);
  if (grid.parallel.context > 1 && !decided(floor)) {
    floor = work_floor(grid, part,
                       work_lower_bound_of_subspace(grid, part, work_.largest_overlap_of_space()));
  }
  if (!decided(floor)) {
    const PipelineLowerBound fitting =
        fitting_floor(grid, part, min_model_state_bytes(grid, *part.work));
    floor.price_s = std::max(floor.price_s, fitting.price_s);
    floor.simulated_s = std::max(floor.simulated_s, fitting.simulated_s);
  }
  if (!decided(floor)) {
    const ShardedStateLowerBounds states = states_floor(grid, *part.work, activations());
    const std::int64_t rounds = job_.sequences / (grid.parallel.data * part.micro_batch);
    const double messages_s = static_cast<double>(rounds) * states.messages_s;
    floor.price_s = std::max(floor.price_s, messages_s);
    floor.simulated_s = std::max(floor.simulated_s, messages_s);
  }
  part.floor = std::min(part.floor, floor.price_s);
  part.simulated_floor_s = std::min(part.simulated_floor_s, floor.simulated_s);
}

std::vector<SearchSubspace> SubspaceSearch::split_by_pipeline_degree(const SearchSubspace& unit,
                                                                     const SearchFindings& all) {
  SearchFindings found(goal_.keep, &all);
  found_ = &found;
  passed_before_s_ = all.passed_bound_s;
  sharding_.free_old_cached_costs();
  states_of_ = nullptr;
  works_of_unit_.clear();
  const LeastPlanWork& work =
      work_.work_lower_bound_of_plan(default_plan_of_subspace(job_, unit, *unit.grids.front()));
  std::map<std::int64_t, SearchSubspace> parts;
  for (const RankGridChoice* grid : unit.grids) {
    const auto [entry, fresh] = parts.try_emplace(grid->parallel.pipeline);
    SearchSubspace& part = entry->second;
    if (fresh) {
      part = {.micro_batch = unit.micro_batch,
              .floor = kUnbounded,
              .simulated_floor_s = kUnbounded,
              .refined = true,
              .grids = {},
              .work = &work};
    }
    part.grids.push_back(grid);
    refine_grid(*grid, part);
  }
  found_ = nullptr;
  std::vector<SearchSubspace> out;
  for (auto& [pipeline, part] : parts) {
    if (part.floor < kUnbounded) out.push_back(std::move(part));
  }
  return out;
}

}  // namespace stepwright::tune

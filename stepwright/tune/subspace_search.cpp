#include "stepwright/tune/subspace_search.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "stepwright/plan/overlap_table.h"
#include "stepwright/schedule/facts.h"
#include "stepwright/schedule/kinds.h"
#include "stepwright/simulate/price/block_costs.h"
#include "stepwright/simulate/price/position_floor.h"
#include "stepwright/simulate/price/price_store.h"

namespace stepwright::tune {
namespace {

/// The work of blocks, as priced.
struct BlockWork {
  LeastPlanWork seconds;  ///< Work as the closed form counts it.
  LeastPlanWork floors;   ///< Lower bound of the work: never above the simulator's.
};

/// The priced blocks of a choice's recomputation, and their work.
struct PricedWork {
  plan::ActivationRecomputation recompute;
  const simulate::ModelBlockCosts* costs;
  BlockWork work;
};

/// Returns the least work of layers over these recomputations.
LayerWorkSeconds least_of(const std::vector<LayerWorkSeconds>& layers) {
  LayerWorkSeconds least{plan::kNoRecompute, layers.front().seconds, {}, {}};
  for (const LayerWorkSeconds& of : layers) {
    for (std::size_t k = 0; k < of.seconds.size(); ++k) {
      least.seconds[k] = std::min(least.seconds[k], of.seconds[k]);
    }
  }
  return least;
}

/// Returns the work of blocks with the recomputation of each position's layers.
LeastPlanWork work_of(const simulate::ModelBlockCosts& blocks,
                      const plan::ActivationRecomputation& recompute,
                      schedule::BackwardSplitting form,
                      double simulate::ModelBlockPassCost::* part) {
  LeastPlanWork work;
  plan::each_setting(recompute, [&](const plan::ActivationRecomputation& setting) {
    LayerWorkSeconds& of = work.layers.emplace_back(
        LayerWorkSeconds{plan::common_layer_recompute(setting), {}, {}, {}});
    const std::size_t place = blocks.cost_index_of_recomputation(of.recompute);
    for (const simulate::ModelBlockCosts::Layer& layer : blocks.layers) {
      const simulate::ModelBlockCosts::RecomputedLayerCost& with = layer.cost_at_place(place);
      of.seconds.push_back(with.cost.forward.*part + with.backward(form).*part);
    }
  });
  if (!plan::all_stages_recompute_equally(recompute))
    work.layers.insert(work.layers.begin(), least_of(work.layers));
  work.head_s = blocks.head.forward.*part + blocks.head.backward.*part;
  if (blocks.multi_tokens > 0) {
    double least_s = std::numeric_limits<double>::infinity();
    for (const LayerWorkSeconds& of : work.layers) {
      const simulate::BlockPairCost& cost =
          blocks.multi_token.cost_at_place(blocks.cost_index_of_recomputation(of.recompute)).cost;
      least_s = std::min(least_s, cost.forward.*part + cost.backward.*part);
    }
    work.head_s += static_cast<double>(blocks.multi_tokens) * least_s;
  }
  return work;
}

/// Returns the work of two strands, which fill each other's waits: only the computation of both is
/// certain.
BlockWork shared_work(const simulate::ModelBlockCosts& blocks,
                      const plan::ActivationRecomputation& recompute,
                      schedule::BackwardSplitting form) {
  const LeastPlanWork compute =
      work_of(blocks, recompute, form, &simulate::ModelBlockPassCost::kernels_s);
  return {compute, compute};
}

BlockWork block_work(const simulate::ModelBlockCosts& blocks,
                     const plan::ActivationRecomputation& recompute,
                     schedule::BackwardSplitting form) {
  return {work_of(blocks, recompute, form, &simulate::ModelBlockPassCost::seconds),
          work_of(blocks, recompute, form, &simulate::ModelBlockPassCost::floor_s)};
}

}  // namespace

SubspaceSearch::SubspaceSearch(const plan::Job& job, const cost::CostModel& cost,
                               const simulate::SharedPricerCaches& prices,
                               std::shared_ptr<LeastPlanWorkCache> works)
    : job_(job),
      pricer_(job, cost, prices),
      sharding_(job, cost),
      work_(job, cost, std::move(works)),
      balanced_(work_),
      reserve_(memory::framework_memory_reserve(job)) {}

void SearchFindings::merge(SearchFindings&& other) {
  kept.merge(std::move(other.kept));
  priced += other.priced;
  fitting += other.fitting;
  passed_bound_s = std::min(passed_bound_s, other.passed_bound_s);
}

namespace {

/// Returns the plan of a grid with a micro-batch, with which blocks are priced.
plan::Plan priced_plan(const plan::Job& job, const RankGridChoice& grid, std::int64_t micro_batch) {
  plan::Plan plan = default_plan_of_rank_grid(job, grid.parallel, grid.order);
  plan.accumulate = grid.accumulate;
  plan.micro_batch = micro_batch;
  return plan;
}

}  // namespace

plan::Plan default_plan_of_subspace(const plan::Job& job, const SearchSubspace& unit,
                                    const RankGridChoice& grid) {
  return priced_plan(job, grid, unit.micro_batch);
}

bool SubspaceSearch::may_skip_slow_or_large_plans() const {
  return !goal_.exhaustive && !goal_.least_memory;
}

bool SubspaceSearch::beaten(double floor_s) const {
  if (!may_skip_slow_or_large_plans()) return false;
  return floor_s * (1 - kLowerBoundRoundingShare) > found_->kept.largest_key_of_kept_candidates();
}

bool SubspaceSearch::is_ruled_out_by_lower_bounds(const PipelineLowerBound& floor) const {
  if (!beaten(floor.price_s)) return false;
  return !goal_.bounds || floor.simulated_s >= found_->kept.lower_bound_to_reconsider_plan_s();
}

bool SubspaceSearch::can_skip_plans_without_record(const PipelineLowerBound& floor) const {
  if (!beaten(floor.price_s)) return false;
  return !goal_.bounds || floor.simulated_s >= std::min(passed_before_s_, found_->passed_bound_s);
}

bool SubspaceSearch::can_drop_plan_without_record(double simulated_s) const {
  return simulated_s >= std::max(found_->kept.lower_bound_to_reconsider_plan_s(),
                                 std::min(passed_before_s_, found_->passed_bound_s));
}

void SubspaceSearch::pass(double simulated_floor_s) {
  found_->passed_bound_s = std::min(found_->passed_bound_s, simulated_floor_s);
}

plan::Plan SubspaceSearch::block_plan(const RankGridChoice& grid, const ModelBlockChoice& block,
                                      std::int64_t micro_batch) const {
  plan::Plan plan = priced_plan(job_, grid, micro_batch);
  write_choice_into_plan(block, plan);
  return plan;
}

const simulate::ModelBlockCosts& SubspaceSearch::blocks(const UnshardedPipeline& stages,
                                                        std::int64_t micro_batch) {
  plan::Plan plan = block_plan(*stages.grid, *stages.block, micro_batch);
  write_choice_into_plan(*stages.choice, plan);
  return pricer_.blocks(plan);
}

plan::OverlapFlags overlap_in_lower_bounds(const ModelBlockChoice& block) {
  return plan::overlap_flags_for_lower_bounds({&block.overlap, 1});
}

bool has_same_context_parallel_exchange(const ModelBlockChoice& a, const ModelBlockChoice& b) {
  return a.context_kind == b.context_kind && a.overlap.context == b.overlap.context &&
         a.collectives.context == b.collectives.context;
}

SubspaceSearch::StageChoicesWithBounds SubspaceSearch::rough_choices(
    const SearchSubspace& unit, const RankGridChoice& grid, const ModelBlockChoice& block) {
  const plan::Plan plan = block_plan(grid, block, unit.micro_batch);
  const LeastPlanWork work = work_.add_context_parallel_message_time(
      work_.work_lower_bound_of_plan(plan, overlap_in_lower_bounds(block)), plan);
  const std::int64_t rounds = job_.sequences / (grid.parallel.data * unit.micro_batch);
  const double states_bytes =
      may_skip_slow_or_large_plans() ? min_model_state_bytes(grid, work) : 0;
  StageChoicesWithBounds rough{&block, {}};
  for (const PipelineStageChoice& listed : grid.stages->by_micro_batch.at(unit.micro_batch)) {
    if (may_skip_slow_or_large_plans() &&
        activations_exceed_memory(grid, listed, work, rounds, states_bytes))
      continue;
    each_floor(work, listed, plan,
               [&](const PipelineStageChoice& choice, const PipelineLowerBound& floor) {
                 rough.choices.emplace_back(&choice, floor);
               });
  }
  return rough;
}

/// Visits all pipelines of a grid and a block choice, each with the tightest floor known.
template <class VisitorCallback>
void SubspaceSearch::each_choice(const SearchSubspace& unit, const UnshardedPipeline& common,
                                 const StageChoicesWithBounds& rough, VisitorCallback&& visit) {
  const RankGridChoice& grid = *common.grid;
  const std::int64_t rounds = job_.sequences / (grid.parallel.data * unit.micro_batch);
  const auto floor_of = [&](const LeastPlanWork& work, const PipelineStageChoice& choice) {
    return pipeline_lower_bound(work, work_.layers(), choice, grid.parallel.pipeline, rounds);
  };
  const auto floors_of = [&](const BlockWork& work, const PipelineStageChoice& choice) {
    return PipelineLowerBound{floor_of(work.seconds, choice).price_s,
                              floor_of(work.floors, choice).simulated_s};
  };
  std::array<std::vector<PricedWork>, 3 * schedule::kBackwardForms> works;
  const auto see = [&](const PipelineStageChoice& choice, const PipelineLowerBound& floor) {
    if (!grid.framework_allows_choices(*common.block, choice) ||
        is_repeated_block_choice(grid.blocks, *common.block, choice))
      return;
    UnshardedPipeline stages = common;
    stages.choice = &choice;
    stages.floor = floor;
    if (is_ruled_out_by_lower_bounds(stages.floor)) return visit(stages);
    const schedule::BackwardSplitting form = schedule::backward_form(choice.schedule);
    const bool strands = choice.schedule.strands > 1;
    // Schedules that pair forwards with parts of backwards have blocks of their own.
    const bool braids = strands && schedule::traits_of(choice.schedule.kind).braids;
    std::vector<PricedWork>& of_form =
        works[3 * static_cast<std::size_t>(form) + (strands ? 1 : 0) + (braids ? 1 : 0)];
    const auto known = [&](const plan::ActivationRecomputation& recompute) {
      return std::ranges::find(of_form, recompute, &PricedWork::recompute);
    };
    auto priced = known(choice.recompute);
    if (priced == of_form.end()) {
      // Blocks that recompute nothing bound those that recompute, which often saves pricing them.
      if (const auto least = known(plan::ActivationRecomputation()); least != of_form.end()) {
        stages.floor = floors_of(least->work, choice);
        if (is_ruled_out_by_lower_bounds(stages.floor)) return visit(stages);
      }
      const simulate::ModelBlockCosts& costs = blocks(stages, unit.micro_batch);
      const auto work = strands ? shared_work : block_work;
      of_form.push_back({choice.recompute, &costs, work(costs, choice.recompute, form)});
      priced = std::prev(of_form.end());
    }
    stages.costs = priced->costs;
    stages.floor = floors_of(priced->work, choice);
    visit(stages);
  };
  for (const auto& [choice, floor] : rough.choices) see(*choice, floor);
}

template <class VisitorCallback>
void SubspaceSearch::each_stages(const SearchSubspace& unit, VisitorCallback&& visit) {
  for (const RankGridChoice* grid : unit.grids) {
    std::vector<StageChoicesWithBounds> known;
    for (const ModelBlockChoice& block : grid->blocks) {
      auto rough = std::ranges::find_if(known, [&](const StageChoicesWithBounds& other) {
        return has_same_context_parallel_exchange(*other.block, block) &&
               overlap_in_lower_bounds(*other.block) == overlap_in_lower_bounds(block);
      });
      if (rough == known.end()) {
        known.push_back(rough_choices(unit, *grid, block));
        rough = std::prev(known.end());
      }
      each_choice(unit,
                  {.floor = {}, .grid = grid, .block = &block, .choice = nullptr, .costs = nullptr},
                  *rough, visit);
    }
  }
}

void SubspaceSearch::list(const UnshardedPipeline& stages, const SearchSubspace& unit) {
  if (is_ruled_out_by_lower_bounds(stages.floor)) {
    pass(stages.floor.simulated_s);
  } else if (!too_large(stages, unit)) {
    stages_.push_back(stages);
  }
}

/// True if states and activations alone exceed the capacity of a device.
bool SubspaceSearch::too_large(const simulate::PipelineCost& pipeline,
                               const StateBytesPerParameter& states) const {
  for (const simulate::PipelinePositionCost& stage : pipeline.stages) {
    const double bytes =
        states.of(stage.size) + stage.activations.any + reserve_.bytes(stage.activations.any);
    if (bytes * (1 - kLowerBoundRoundingShare) > goal_.room.device_bytes) return true;
  }
  return false;
}

/// Returns a lower bound of the simulated time of a way to shard a pipeline; stops early once the
/// plan cannot be kept.
double SubspaceSearch::simulated_floor_s(const simulate::PipelineCost& pipeline,
                                         const plan::OverlapFlags& overlap,
                                         const PositionTimes& positions,
                                         const ShardingChoiceTable::Choice& choice) const {
  const auto m = static_cast<double>(pipeline.micro_batches);
  double floor_s = pipeline.floor_s;
  for (std::size_t i = 0; i < positions.size() && !can_drop_plan_without_record(floor_s); ++i) {
    floor_s =
        std::max(floor_s, simulate::position_time_lower_bound_s(
                              pipeline.stages[i], positions[i].sharding_message_cost_of(choice),
                              overlap, m, pricer_.contention()));
  }
  return floor_s;
}

/// Returns the full price except memory. `updates_s`: seconds of the optimizer update by position.
simulate::PlanPrice SubspaceSearch::choice_price(const simulate::PipelineCost& pipeline,
                                                 const plan::Plan& plan,
                                                 const PositionTimes& positions,
                                                 const ShardingChoiceTable::Choice& choice,
                                                 const std::vector<double>& updates_s) {
  messages_.clear();
  for (std::size_t i = 0; i < positions.size(); ++i) {
    messages_.push_back(positions[i].sharding_message_cost_of(choice));
    messages_.back().update_s = updates_s[i];
  }
  return pricer_.plan_price_without_memory(pipeline, plan, messages_);
}

void SubspaceSearch::offer(const plan::Plan& plan, const simulate::PlanPrice& price, bool counts) {
  const bool fits = goal_.room.fits_in_memory(price);
  found_->priced += counts ? 1 : 0;
  found_->fitting += counts && fits ? 1 : 0;
  if (goal_.least_memory) {
    found_->kept.offer(goal_.room.device_bytes_needed_by_plan(price), plan, price);
  } else if (fits) {
    found_->kept.offer(price.seconds, plan, price);
  }
}

void SubspaceSearch::price_choices(const simulate::PipelineCost& pipeline,
                                   const UnshardedPipeline& stages, plan::Plan& plan) {
  const RankGridChoice& grid = *stages.grid;
  const ModelBlockChoice& block = *stages.block;
  const ShardingChoiceTable& table = sharding_.table(grid);
  PositionTimes positions;
  for (const simulate::PipelinePositionCost& stage : pipeline.stages) {
    positions.push_back(sharding_.sharding_costs_of_position(grid, block.overlap, stage));
  }
  std::vector<std::vector<double>> updates(table.updates);
  for (std::size_t i = 0; i < table.choices.size(); ++i) {
    const ShardingChoiceTable::Choice& choice = table.choices[i];
    if (!choice.needs_parameter_gathers && !block.first_without_parameters) continue;
    const DataParallelChoice& data = grid.data->choices[i];
    if (!grid.framework_allows_choices(block, stages.choice->joint, data.joint)) continue;
    if (may_skip_slow_or_large_plans() && too_large(pipeline, table.states(choice))) continue;
    write_choice_into_plan(data, plan);
    plan.overlap.parameters =
        choice.needs_parameter_gathers ? block.overlap.parameters : plan::OverlapFlags{}.parameters;
    if (may_skip_slow_or_large_plans()) {
      const auto simulated_s = [&] {
        return simulated_floor_s(pipeline, plan.overlap, positions, choice);
      };
      const double floor_s = choice_floor_.step_lower_bound_of_sharding_s(
          pipeline, plan.overlap, positions, choice,
          found_->kept.largest_key_of_kept_candidates() / (1 - kLowerBoundRoundingShare));
      if (beaten(floor_s)) {
        if (!goal_.bounds) continue;
        const double least_s = simulated_s();
        if (!can_drop_plan_without_record(least_s)) {
          found_->kept.record_left_out_plan(plan, {.seconds = floor_s, .lower_bound_s = least_s});
        }
        continue;
      }
      std::vector<double>& updates_s = updates[choice.update];
      if (updates_s.empty()) {
        for (const simulate::PipelinePositionCost& stage : pipeline.stages) {
          updates_s.push_back(pricer_.step_end_seconds_of_position(plan, stage));
        }
      }
      // The slowest update is added to everything else.
      if (beaten(floor_s + std::ranges::max(updates_s)) &&
          (!goal_.bounds || can_drop_plan_without_record(simulated_s()))) {
        continue;
      }
      const simulate::PlanPrice price = choice_price(pipeline, plan, positions, choice, updates_s);
      if (beaten(price.seconds)) {
        found_->kept.record_left_out_plan(plan, price);
        continue;
      }
    }
    offer(plan, pricer_.finish(pipeline, plan), !stages.choice->balanced);
  }
}

void SubspaceSearch::price_stages(const UnshardedPipeline& stages, plan::Plan& plan) {
  plan.parallel = stages.grid->parallel;
  plan.rank_order = stages.grid->order;
  write_choice_into_plan(*stages.block, plan);
  write_choice_into_plan(*stages.choice, plan);
  plan.sharding = plan::Sharding{};
  const simulate::PipelineCost pipeline = pricer_.pipeline_cost_of_plan(*stages.costs, plan);
  if (!goal_.exhaustive) {
    const double most = goal_.least_memory ? found_->kept.largest_key_of_kept_candidates()
                                           : goal_.room.device_bytes;
    if (pipeline.memory_floor_bytes * (1 - kLowerBoundRoundingShare) > most) return;
    // Sharding only adds time to the closed form of the pipeline.
    if (is_ruled_out_by_lower_bounds(
            {.price_s = pipeline.seconds, .simulated_s = pipeline.floor_s})) {
      return pass(pipeline.floor_s);
    }
  }
  price_choices(pipeline, stages, plan);
}

SearchFindings SubspaceSearch::search_subspace(const SearchSubspace& unit,
                                               const SearchFindings& all) {
  SearchFindings found(goal_.keep, &all);
  found_ = &found;
  passed_before_s_ = all.passed_bound_s;
  stages_.clear();
  sharding_.free_old_cached_costs();
  states_of_ = least_states_of_ = nullptr;
  each_stages(unit, [&](const UnshardedPipeline& stages) { list(stages, unit); });
  std::ranges::stable_sort(stages_, {}, [](const UnshardedPipeline& s) { return s.floor.price_s; });
  plan::Plan plan =
      default_plan_of_rank_grid(job_, unit.grids.front()->parallel, plan::RankOrder{});
  plan.micro_batch = unit.micro_batch;
  for (const UnshardedPipeline& stages : stages_) {
    if (is_ruled_out_by_lower_bounds(stages.floor)) {
      pass(stages.floor.simulated_s);
      continue;
    }
    price_stages(stages, plan);
  }
  found_ = nullptr;
  return found;
}

}  // namespace stepwright::tune

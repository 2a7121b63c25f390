#include "stepwright/tune/unit_search.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "stepwright/core/error.h"
#include "stepwright/simulate/block_costs.h"
#include "stepwright/simulate/block_store.h"

namespace stepwright {
namespace {

/// Bounds and prices add the same terms in different orders.
constexpr double kRounding = 1e-9;

/// The work that blocks were priced at.
struct BlockWork {
  Work seconds;  ///< As the closed form counts it.
  Work floors;   ///< Never above what the simulator takes.
};

Work work_of(const BlockCosts& blocks, std::size_t recompute, double BlockCost::* part) {
  const auto both = [&](const BlockPairCost& cost) {
    return cost.forward.*part + cost.backward.*part;
  };
  Work work;
  for (const BlockCosts::Layer& layer : blocks.layers) {
    work.layer_s[recompute].push_back(both(layer.costs[recompute]));
  }
  work.head_s = both(blocks.head);
  return work;
}

BlockWork block_work(const BlockCosts& blocks, std::size_t recompute) {
  return {work_of(blocks, recompute, &BlockCost::seconds),
          work_of(blocks, recompute, &BlockCost::floor_s)};
}

}  // namespace

UnitSearch::UnitSearch(const Job& job, const CostModel& cost, const Goal& goal,
                       std::shared_ptr<BlockStore> blocks)
    : job_(job),
      goal_(goal),
      pricer_(job, cost, std::move(blocks)),
      sharding_(job, cost),
      work_(job, cost),
      reserve_(framework_reserve(job)) {}

void Findings::merge(Findings&& other) {
  kept.merge(std::move(other.kept));
  priced += other.priced;
  fitting += other.fitting;
  passed_bound_s = std::min(passed_bound_s, other.passed_bound_s);
  for (const auto& [reason, count] : other.unsupported) unsupported[reason] += count;
}

Plan unit_plan(const Job& job, const SearchUnit& unit, const GridChoice& grid) {
  Plan plan = grid_plan(job, grid.parallel, grid.order);
  plan.micro_batch = unit.micro_batch;
  return plan;
}

bool UnitSearch::filters() const { return !goal_.exhaustive && !goal_.least_memory; }

bool UnitSearch::beaten(double floor_s) const {
  if (!filters()) return false;
  return floor_s * (1 - kRounding) > std::min(threshold_, found_->kept.threshold());
}

void UnitSearch::pass(double simulated_floor_s) {
  found_->passed_bound_s = std::min(found_->passed_bound_s, simulated_floor_s);
}

const BlockCosts* UnitSearch::blocks(const Stages& stages, std::int64_t micro_batch) {
  Plan plan = grid_plan(job_, stages.grid->parallel, stages.grid->order);
  plan.micro_batch = micro_batch;
  apply(*stages.block, plan);
  apply(*stages.choice, plan);
  try {
    return &pricer_.blocks(plan);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kUnsupported) throw;
    unsupported_ = error.what();
    return nullptr;
  }
}

/// Whether a pipeline with the least states that its grid allows cannot fit, by its mean position.
bool UnitSearch::too_large(const Stages& stages, const SearchUnit& unit) {
  if (!filters() || stages.costs == nullptr) return false;
  if (states_of_ != stages.grid) {
    states_of_ = stages.grid;
    states_bytes_ = states_floor(*stages.grid, *unit.work, 0).memory_bytes - reserve_.bytes(0);
  }
  const std::size_t recompute = stages.choice->recompute.kind == RecomputeKind::kEvery
                                    ? recompute_index(RecomputeKind::kFull)
                                    : recompute_index(stages.choice->recompute.kind);
  double retained = std::numeric_limits<double>::infinity();
  for (const BlockCosts::Layer& layer : stages.costs->layers) {
    retained = std::min(retained, layer.costs[recompute].forward.retained_bytes);
  }
  const std::int64_t rounds = job_.sequences / (stages.grid->parallel.data * unit.micro_batch);
  const double activations = activations_floor(*stages.grid, *stages.choice, rounds, retained);
  const double bytes = states_bytes_ + activations + reserve_.bytes(activations);
  return bytes * (1 - kRounding) > goal_.capacity_bytes;
}

/// Visits all pipelines of a grid and a block choice, with the tightest floor at hand.
template <class Visit>
void UnitSearch::each_choice(const SearchUnit& unit, const Stages& common, Visit&& visit) {
  const GridChoice& grid = *common.grid;
  const std::int64_t rounds = job_.sequences / (grid.parallel.data * unit.micro_batch);
  const auto floor_of = [&](const Work& work, const StageChoice& choice) {
    return stage_floor(work, work_.layers(), choice, grid.parallel.pipeline, rounds);
  };
  const BlockCosts* costs = nullptr;
  std::array<std::optional<BlockWork>, 3> works;
  for (const StageChoice& choice : grid.stages->by_micro_batch.at(unit.micro_batch)) {
    const std::size_t recompute = recompute_index(choice.recompute.kind);
    Stages stages = common;
    stages.choice = &choice;
    stages.floor = floor_of(*unit.work, choice);
    if (beaten(stages.floor.price_s)) {
      visit(stages);
      continue;
    }
    if (choice.recompute.kind == RecomputeKind::kEvery || !works[recompute]) {
      costs = blocks(stages, unit.micro_batch);
      if (costs != nullptr) works[recompute] = block_work(*costs, recompute);
    }
    stages.costs = costs;
    if (costs == nullptr) {
      stages.unsupported = &unsupported_;
    } else {
      stages.floor = {floor_of(works[recompute]->seconds, choice).price_s,
                      floor_of(works[recompute]->floors, choice).simulated_s};
    }
    visit(stages);
  }
}

template <class Visit>
void UnitSearch::each_stages(const SearchUnit& unit, Visit&& visit) {
  for (const GridChoice* grid : unit.grids) {
    for (const BlockChoice& block : grid->blocks) {
      each_choice(unit, {.floor = {},
                         .grid = grid,
                         .block = &block,
                         .choice = nullptr,
                         .costs = nullptr,
                         .unsupported = nullptr},
                  visit);
    }
  }
}

/// Bytes that wait for their backward, in the mean over the positions: in 1F1B as many micro-batches
/// as positions follow, in the other schedules no fewer.
double UnitSearch::activations_floor(const GridChoice& grid, const StageChoice& choice,
                                     std::int64_t m, double retained_bytes) const {
  if (!choice.layers.empty()) return 0;
  const std::int64_t p = grid.parallel.pipeline;
  const std::int64_t chunks = choice.schedule.chunks;
  const auto layers = static_cast<double>(job_.model.layers / (p * chunks) * chunks);
  const auto few = static_cast<double>(std::min(m, p));
  const double waiting = few - few * (few - 1) / 2 / static_cast<double>(p);
  return waiting * layers * retained_bytes;
}

UnitSearch::StatesFloor UnitSearch::states_floor(const GridChoice& grid, const Work& work,
                                                 double activation_bytes) {
  constexpr double kUnbounded = std::numeric_limits<double>::infinity();
  StageCost mean;
  mean.size.dense = work.size.dense / grid.parallel.pipeline;
  mean.size.expert = work.size.expert / grid.parallel.pipeline;
  mean.units = 1;
  const ShardingFloor::Times times = sharding_.times(grid, mean);
  const double rest = activation_bytes + reserve_.bytes(activation_bytes);
  StatesFloor floor{kUnbounded, kUnbounded};
  for (const ShardingTable::Choice& choice : sharding_.table(grid).choices) {
    const double bytes = choice.states.of(mean.size) + rest;
    floor.memory_bytes = std::min(floor.memory_bytes, bytes);
    if (bytes * (1 - kRounding) > goal_.capacity_bytes && !goal_.least_memory) continue;
    const ShardingTimes added = times.of(choice);
    floor.messages_s = std::min(floor.messages_s,
                                std::max(2 * added.gather_floor_s, added.reduce_floor_s));
  }
  return floor;
}

void UnitSearch::refine_grid(const GridChoice& grid, SearchUnit& part) {
  const std::int64_t rounds = job_.sequences / (grid.parallel.data * part.micro_batch);
  const std::vector<StageChoice>& choices = grid.stages->least_work.at(part.micro_batch);
  double activations = std::numeric_limits<double>::infinity();
  for (const StageChoice& choice : choices) {
    activations = std::min(activations, activations_floor(grid, choice, rounds,
                                                          part.work->least_retained_bytes));
  }
  const StatesFloor states = states_floor(grid, *part.work, activations);
  if (goal_.least_memory) {
    part.floor = std::min(part.floor, states.memory_bytes);
    return;
  }
  const double messages_s = static_cast<double>(rounds) * states.messages_s;
  for (const StageChoice& choice : choices) {
    const StageFloor floor =
        stage_floor(*part.work, work_.layers(), choice, grid.parallel.pipeline, rounds);
    part.floor = std::min(part.floor, std::max(floor.price_s, messages_s));
    part.simulated_floor_s =
        std::min(part.simulated_floor_s, std::max(floor.simulated_s, messages_s));
  }
}

std::vector<SearchUnit> UnitSearch::refine(const SearchUnit& unit) {
  constexpr double kUnbounded = std::numeric_limits<double>::infinity();
  sharding_.trim();
  const Work& work = work_.work(unit_plan(job_, unit, *unit.grids.front()));
  std::map<std::int64_t, SearchUnit> parts;
  for (const GridChoice* grid : unit.grids) {
    const auto [entry, fresh] = parts.try_emplace(grid->parallel.pipeline);
    SearchUnit& part = entry->second;
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
  std::vector<SearchUnit> out;
  for (auto& [pipeline, part] : parts) {
    if (part.floor < kUnbounded) out.push_back(std::move(part));
  }
  return out;
}

void UnitSearch::list(const Stages& stages, const SearchUnit& unit) {
  if (stages.unsupported != nullptr) {
    found_->unsupported[*stages.unsupported] += stages.grid->sharded(*stages.block);
  } else if (beaten(stages.floor.price_s)) {
    pass(stages.floor.simulated_s);
  } else if (!too_large(stages, unit)) {
    stages_.push_back(stages);
  }
}

/// Whether states and activations alone are beyond the capacity.
bool UnitSearch::too_large(const PipelineCost& pipeline, const StateBytes& states) const {
  for (const StageCost& stage : pipeline.stages) {
    const double bytes = states.of(stage.size) + stage.activation_bytes +
                         reserve_.bytes(stage.activation_bytes);
    if (bytes * (1 - kRounding) > goal_.capacity_bytes) return true;
  }
  return false;
}

/// Of a way to shard a pipeline: messages beside a pass make it at least as long as they are,
/// messages that block lengthen it.
StageFloor UnitSearch::choice_floor(const PipelineCost& pipeline, const Overlap& overlap,
                                    const Positions& positions,
                                    const ShardingTable::Choice& choice) const {
  const auto m = static_cast<double>(pipeline.micro_batches);
  double slowest = 0;
  double base = 0;
  StageFloor floor{.price_s = 0, .simulated_s = pipeline.floor_s};
  for (std::size_t i = 0; i < positions.size(); ++i) {
    const StageCost& stage = pipeline.stages[i];
    const ShardingTimes times = positions[i].of(choice);
    double forward = stage.forward.seconds + times.gather_s;
    double backward = stage.backward.seconds + times.gather_s;
    double least = stage.forward.stream_s + stage.backward.stream_s + 2 * times.gather_floor_s;
    if (overlap.parameters) {
      forward = std::max(stage.forward.seconds, times.gather_s);
      backward = std::max(stage.backward.seconds, times.gather_s);
      least = std::max(stage.forward.floor_s, times.gather_floor_s) +
              std::max(stage.backward.floor_s, times.gather_floor_s);
    }
    const double both = overlap.gradients ? std::max(forward + backward, times.reduce_s)
                                          : forward + backward + times.reduce_s;
    slowest = std::max(slowest, both);
    base = std::max(base, stage.forward.seconds + stage.backward.seconds);
    floor.simulated_s = std::max({floor.simulated_s, stage.fill_s + m * least + stage.drain_s,
                                  stage.fill_s + m * times.reduce_floor_s});
  }
  floor.price_s = pipeline.seconds + m * (slowest - base);
  return floor;
}

void UnitSearch::offer(const Plan& plan, const Price& price) {
  ++found_->priced;
  const bool fits = price.memory_bytes <= goal_.capacity_bytes;
  found_->fitting += fits ? 1 : 0;
  if (goal_.least_memory) {
    found_->kept.offer(price.memory_bytes, plan, price);
  } else if (fits && price.seconds <= threshold_) {
    found_->kept.offer(price.seconds, plan, price);
  } else if (fits) {
    pass(price.lower_bound_s);
  }
}

void UnitSearch::price_choices(const PipelineCost& pipeline, const Stages& stages, Plan& plan) {
  const GridChoice& grid = *stages.grid;
  const BlockChoice& block = *stages.block;
  const ShardingTable& table = sharding_.table(grid);
  Positions positions;
  for (const StageCost& stage : pipeline.stages) positions.push_back(sharding_.times(grid, stage));
  for (std::size_t i = 0; i < table.choices.size(); ++i) {
    const ShardingTable::Choice& choice = table.choices[i];
    if (!choice.gathers && !block.first_without_parameters) continue;
    apply(grid.data->choices[i], plan);
    plan.overlap.parameters =
        choice.gathers ? block.overlap.parameters : Overlap{}.parameters;
    if (filters()) {
      if (too_large(pipeline, choice.states)) continue;
      const StageFloor floor = choice_floor(pipeline, plan.overlap, positions, choice);
      if (beaten(floor.price_s)) {
        pass(floor.simulated_s);
        continue;
      }
    }
    offer(plan, pricer_.finish(pipeline, plan));
  }
}

void UnitSearch::price_stages(const Stages& stages, Plan& plan) {
  plan.parallel = stages.grid->parallel;
  plan.rank_order = stages.grid->order;
  apply(*stages.block, plan);
  apply(*stages.choice, plan);
  plan.sharding = Sharding{};
  const PipelineCost pipeline = pricer_.pipeline(*stages.costs, plan);
  if (!goal_.exhaustive) {
    const double most = goal_.least_memory ? found_->kept.threshold() : goal_.capacity_bytes;
    if (pipeline.memory_floor_bytes * (1 - kRounding) > most) return;
    // Sharding only adds to the closed form of the pipeline.
    if (beaten(pipeline.seconds)) return pass(pipeline.floor_s);
  }
  price_choices(pipeline, stages, plan);
}

Findings UnitSearch::search(const SearchUnit& unit, double threshold) {
  Findings found(goal_.keep);
  found_ = &found;
  threshold_ = threshold;
  stages_.clear();
  sharding_.trim();
  states_of_ = nullptr;
  each_stages(unit, [&](const Stages& stages) { list(stages, unit); });
  std::ranges::stable_sort(stages_, {}, [](const Stages& s) { return s.floor.price_s; });
  Plan plan = grid_plan(job_, unit.grids.front()->parallel, RankOrder{});
  plan.micro_batch = unit.micro_batch;
  for (const Stages& stages : stages_) {
    if (beaten(stages.floor.price_s)) {
      pass(stages.floor.simulated_s);
      continue;
    }
    price_stages(stages, plan);
  }
  found_ = nullptr;
  return found;
}

}  // namespace stepwright

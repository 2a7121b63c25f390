#include "stepwright/tune/unit_search.h"

#include <algorithm>
#include <optional>

#include "stepwright/core/error.h"
#include "stepwright/simulate/block_costs.h"
#include "stepwright/simulate/data_cost.h"

namespace stepwright {
namespace {

/// Bounds and prices add the same terms in different orders.
constexpr double kRounding = 1e-9;

/// The work that blocks were priced at.
struct BlockWork {
  Work seconds;  ///< As the closed form counts it.
  Work floors;   ///< Never above what the simulator takes.
};

// NOLINTNEXTLINE(readability-function-size): names of one sum
void add(Work& work, const BlockCosts& blocks, std::size_t recompute, std::size_t which,
         double count, double BlockCost::* part) {
  const BlockPairCost& cost = blocks.layers[which].costs[recompute];
  const double one = cost.forward.*part + cost.backward.*part;
  work.layers_s[recompute] += count * one;
  double& least = work.least_layer_s[recompute];
  least = least == 0 ? one : std::min(least, one);
}

BlockWork block_work(const BlockCosts& blocks, std::size_t recompute,
                     const std::vector<double>& layers_of_class) {
  BlockWork out;
  for (std::size_t i = 0; i < blocks.layers.size(); ++i) {
    add(out.seconds, blocks, recompute, i, layers_of_class[i], &BlockCost::seconds);
    add(out.floors, blocks, recompute, i, layers_of_class[i], &BlockCost::floor_s);
  }
  out.seconds.head_s = blocks.head.forward.seconds + blocks.head.backward.seconds;
  out.floors.head_s = blocks.head.forward.floor_s + blocks.head.backward.floor_s;
  return out;
}

std::vector<double> count_classes(const Architecture& model) {
  std::vector<LayerClass> classes;
  std::vector<double> counts;
  for (std::int64_t i = 0; i < model.layers; ++i) {
    const LayerClass which = model.layer_class(i);
    const auto found = std::find(classes.begin(), classes.end(), which);
    if (found == classes.end()) {
      classes.push_back(which);
      counts.push_back(1);
    } else {
      ++counts[static_cast<std::size_t>(found - classes.begin())];
    }
  }
  return counts;
}

}  // namespace

UnitSearch::UnitSearch(const Job& job, const CostModel& cost, const Goal& goal)
    : job_(job),
      goal_(goal),
      pricer_(job, cost),
      reserve_(framework_reserve(job)),
      layers_of_class_(count_classes(job.model)) {}

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

bool UnitSearch::beaten(double floor_s) const {
  if (goal_.exhaustive || goal_.least_memory) return false;
  return floor_s * (1 - kRounding) > std::min(threshold_, found_->kept.threshold());
}

void UnitSearch::pass(double simulated_floor_s) {
  found_->passed_bound_s = std::min(found_->passed_bound_s, simulated_floor_s);
}

const BlockCosts* UnitSearch::blocks(const GridChoice& grid, const BlockChoice& block,
                                     const StageChoice& choice, std::int64_t passed) {
  Plan plan = grid_plan(job_, grid.parallel, grid.order);
  plan.micro_batch = passed;
  apply(block, plan);
  apply(choice, plan);
  try {
    return &pricer_.blocks(plan);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kUnsupported) throw;
    found_->unsupported[error.what()] += grid.sharded(block);
    return nullptr;
  }
}

void UnitSearch::list_stages(const SearchUnit& unit, const GridChoice& grid,
                             const BlockChoice& block) {
  const std::int64_t rounds = job_.sequences / (grid.parallel.data * unit.micro_batch);
  const std::int64_t pipeline = grid.parallel.pipeline;
  const std::int64_t layers = job_.model.layers;
  const BlockCosts* costs = nullptr;
  std::array<std::optional<BlockWork>, 3> works;
  for (const StageChoice& choice : grid.stages->by_micro_batch.at(unit.micro_batch)) {
    const bool every = choice.recompute.kind == RecomputeKind::kEvery;
    const std::size_t recompute = recompute_index(choice.recompute.kind);
    const StageFloor rough = stage_floor(unit.work, recompute, choice, pipeline, rounds, layers);
    if (beaten(rough.price_s)) {
      pass(rough.simulated_s);
      continue;
    }
    if (every || !works[recompute]) {
      costs = blocks(grid, block, choice, unit.micro_batch);
      if (costs == nullptr) continue;
      works[recompute] = block_work(*costs, recompute, layers_of_class_);
    }
    const StageFloor floor{
        stage_floor(works[recompute]->seconds, recompute, choice, pipeline, rounds, layers).price_s,
        stage_floor(works[recompute]->floors, recompute, choice, pipeline, rounds, layers)
            .simulated_s};
    stages_.push_back({floor, &grid, &block, &choice, costs});
  }
}

const std::vector<UnitSearch::StateBytes>& UnitSearch::state_bytes(const GridChoice& grid) {
  std::vector<StateBytes>& list = state_bytes_[&grid];
  if (!list.empty()) return list;
  StageCost dense;
  dense.size.dense = 1;
  StageCost expert;
  expert.size.expert = 1;
  Plan plan = grid_plan(job_, grid.parallel, grid.order);
  for (const DataChoice& data : grid.data->choices) {
    apply(data, plan);
    list.push_back({data_memory(job_, plan, dense).states_bytes,
                    data_memory(job_, plan, expert).states_bytes});
  }
  return list;
}

/// Whether states and activations alone are beyond the capacity.
bool UnitSearch::too_large(const PipelineCost& pipeline, const StateBytes& states) const {
  for (const StageCost& stage : pipeline.stages) {
    const double bytes = states.dense * static_cast<double>(stage.size.dense) +
                         states.expert * static_cast<double>(stage.size.expert) +
                         stage.activation_bytes + reserve_.bytes(stage.activation_bytes);
    if (bytes * (1 - kRounding) > goal_.capacity_bytes) return true;
  }
  return false;
}

void UnitSearch::price(const PipelineCost& pipeline, const GridChoice& grid,
                       const BlockChoice& block, Plan& plan) {
  const bool filter = !goal_.exhaustive && !goal_.least_memory;
  const std::vector<StateBytes>& states = state_bytes(grid);
  for (std::size_t i = 0; i < states.size(); ++i) {
    const DataChoice& data = grid.data->choices[i];
    const bool gathers = data.gathers();
    if (!gathers && !block.first_without_parameters) continue;
    if (filter && too_large(pipeline, states[i])) continue;
    apply(data, plan);
    plan.overlap.parameters = gathers ? block.overlap.parameters : Overlap{}.parameters;
    const Price price = pricer_.finish(pipeline, plan);
    ++found_->priced;
    const bool fits = price.memory_bytes <= goal_.capacity_bytes;
    found_->fitting += fits ? 1 : 0;
    if (goal_.least_memory) {
      found_->kept.offer(price.memory_bytes, plan, price);
    } else if (fits) {
      if (price.seconds <= threshold_) {
        found_->kept.offer(price.seconds, plan, price);
      } else {
        pass(price.lower_bound_s);
      }
    }
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
  price(pipeline, *stages.grid, *stages.block, plan);
}

Findings UnitSearch::search(const SearchUnit& unit, double threshold) {
  Findings found(goal_.keep);
  found_ = &found;
  threshold_ = threshold;
  stages_.clear();
  state_bytes_.clear();
  for (const GridChoice* grid : unit.grids) {
    for (const BlockChoice& block : grid->blocks) list_stages(unit, *grid, block);
  }
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

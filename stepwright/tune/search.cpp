#include "stepwright/tune/search.h"

#include <algorithm>
#include <array>
#include <memory>
#include <mutex>

#include "stepwright/core/parallel.h"
#include "stepwright/simulate/block_costs.h"

namespace stepwright {
namespace {

/// Units of a round: few while the threshold still falls fast.
constexpr std::size_t kFirstRound = 2;
constexpr std::size_t kLargestRound = 32;

/// Floors of a unit over all its pipelines, before any block is built.
void set_floors(SearchUnit& unit, const Job& job) {
  unit.floor_s = unit.simulated_floor_s = std::numeric_limits<double>::infinity();
  for (const GridChoice* grid : unit.grids) {
    const std::int64_t rounds = job.sequences / (grid->parallel.data * unit.micro_batch);
    for (const StageChoice& choice : grid->stages->by_micro_batch.at(unit.micro_batch)) {
      const StageFloor floor =
          stage_floor(unit.work, recompute_index(choice.recompute.kind), choice,
                      grid->parallel.pipeline, rounds, job.model.layers);
      unit.floor_s = std::min(unit.floor_s, floor.price_s);
      unit.simulated_floor_s = std::min(unit.simulated_floor_s, floor.simulated_s);
    }
  }
}

/// Units by floor; ties by their degrees.
std::vector<SearchUnit> make_units(const Job& job, const CostModel& cost, const Census& census) {
  std::map<std::array<std::int64_t, 5>, SearchUnit> by_key;
  for (const GridChoice& grid : census.grids()) {
    const Parallel& size = grid.parallel;
    for (const auto& [micro_batch, choices] : grid.stages->by_micro_batch) {
      SearchUnit& unit =
          by_key[{size.tensor, size.context, size.expert, size.expert_tensor, micro_batch}];
      unit.micro_batch = micro_batch;
      unit.grids.push_back(&grid);
    }
  }
  WorkFloor floor(job, cost);
  std::vector<SearchUnit> units;
  for (auto& [key, unit] : by_key) {
    Plan plan = unit_plan(job, unit, *unit.grids.front());
    unit.work = floor.work(plan);
    set_floors(unit, job);
    units.push_back(std::move(unit));
  }
  std::ranges::stable_sort(units, {}, &SearchUnit::floor_s);
  return units;
}

/// One search per thread that is at work; what they remember changes no answer.
class Workers {
 public:
  Workers(const Job& job, const CostModel& cost, const Goal& goal)
      : job_(job), cost_(cost), goal_(goal) {}

  Findings search(const SearchUnit& unit, double threshold) {
    std::unique_ptr<UnitSearch> worker = take();
    Findings found = worker->search(unit, threshold);
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(worker));
    return found;
  }

 private:
  std::unique_ptr<UnitSearch> take() {
    const std::lock_guard lock(mutex_);
    if (idle_.empty()) return std::make_unique<UnitSearch>(job_, cost_, goal_);
    std::unique_ptr<UnitSearch> worker = std::move(idle_.back());
    idle_.pop_back();
    return worker;
  }

  const Job& job_;
  const CostModel& cost_;
  Goal goal_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<UnitSearch>> idle_;
};

}  // namespace

Findings search_plans(const Job& job, const CostModel& cost, const Census& census, const Goal& goal,
                      int threads) {
  const std::vector<SearchUnit> units = make_units(job, cost, census);
  Workers workers(job, cost, goal);
  Findings all(goal.keep);
  std::size_t round = kFirstRound;
  for (std::size_t first = 0; first < units.size();) {
    const double threshold = all.kept.threshold();
    const bool bounds = !goal.exhaustive && !goal.least_memory;
    if (bounds && units[first].floor_s * (1 - 1e-9) > threshold) {
      for (std::size_t i = first; i < units.size(); ++i) {
        all.passed_bound_s = std::min(all.passed_bound_s, units[i].simulated_floor_s);
      }
      break;
    }
    const std::size_t count = std::min(round, units.size() - first);
    std::vector<Findings> found(count, Findings(goal.keep));
    parallel_for(threads, count,
                 [&](std::size_t i) { found[i] = workers.search(units[first + i], threshold); });
    for (Findings& findings : found) all.merge(std::move(findings));
    first += count;
    round = std::min(2 * round, kLargestRound);
  }
  return all;
}

}  // namespace stepwright

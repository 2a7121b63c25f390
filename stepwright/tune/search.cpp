#include "stepwright/tune/search.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <utility>

#include "stepwright/core/parallel.h"
#include "stepwright/simulate/price/price_store.h"

namespace stepwright::tune {
namespace {

/// Number of units searched in the first and in the largest round: few while the threshold still
/// falls fast.
constexpr std::size_t kFirstRound = 2;
constexpr std::size_t kLargestRound = 32;
/// Number of units refined in a round.
constexpr std::size_t kRefinements = 32;
/// Most beaten units that are looked at again for their bounds, in all and in one round.
constexpr std::size_t kLookedAt = 64;
constexpr std::size_t kLookedAtOnce = 8;

/// Computes floors of the pipelines of a grid before any block is built. They do not depend on the
/// expert degrees, so most grids share them with others.
class RoughFloors {
 public:
  RoughFloors(const plan::Job& job, WorkLowerBounds& work)
      : job_(job), work_(work), balanced_(work) {}

  void set(SearchSubspace& unit) {
    unit.work = &work_.work_lower_bound_over_expert_degrees(
        default_plan_of_subspace(job_, unit, *unit.grids.front()));
    unit.floor = unit.simulated_floor_s = std::numeric_limits<double>::infinity();
    for (const RankGridChoice* grid : unit.grids) {
      const PipelineLowerBound& floor = of_grid(unit, *grid);
      unit.floor = std::min(unit.floor, floor.price_s);
      unit.simulated_floor_s = std::min(unit.simulated_floor_s, floor.simulated_s);
    }
  }

 private:
  const PipelineLowerBound& of_grid(const SearchSubspace& unit, const RankGridChoice& grid) {
    const std::span<const PipelineStageChoice> choices =
        grid.stages->least_work.at(unit.micro_batch);
    const std::int64_t rounds = job_.sequences / (grid.parallel.data * unit.micro_batch);
    const auto [entry, fresh] =
        known_.try_emplace({unit.work, choices.data(), grid.parallel.pipeline, rounds});
    PipelineLowerBound& least = entry->second;
    if (!fresh) return least;
    least.price_s = least.simulated_s = std::numeric_limits<double>::infinity();
    const auto see = [&](const PipelineStageChoice& choice) {
      const PipelineLowerBound floor =
          pipeline_lower_bound(*unit.work, work_.layers(), choice, grid.parallel.pipeline, rounds);
      least.price_s = std::min(least.price_s, floor.price_s);
      least.simulated_s = std::min(least.simulated_s, floor.simulated_s);
    };
    const plan::Plan plan = default_plan_of_subspace(job_, unit, grid);
    for (const PipelineStageChoice& choice : choices) {
      balanced_.each(choice, plan, see);
    }
    return least;
  }

  const plan::Job& job_;
  WorkLowerBounds& work_;
  BalancedLayerSplitter balanced_;
  FloorsOfEqualPipelines known_;
};

/// Returns the units in the order of their degrees.
std::vector<SearchSubspace> make_units(const plan::Job& job, const LegalPlanCounter& enumeration,
                                       WorkLowerBounds& work) {
  std::map<std::array<std::int64_t, 5>, SearchSubspace> by_key;
  for (const RankGridChoice& grid : enumeration.grids()) {
    const plan::ParallelismDegrees& size = grid.parallel;
    for (const auto& [micro_batch, choices] : grid.stages->by_micro_batch) {
      SearchSubspace& unit =
          by_key[{size.tensor, size.context, size.expert, size.expert_tensor, micro_batch}];
      unit.micro_batch = micro_batch;
      unit.grids.push_back(&grid);
    }
  }
  RoughFloors floors(job, work);
  std::vector<SearchSubspace> units;
  units.reserve(by_key.size());
  for (auto& [key, unit] : by_key) {
    floors.set(unit);
    units.push_back(std::move(unit));
  }
  return units;
}

}  // namespace

/// Keeps one `SubspaceSearch` for each working thread. What a search remembers speeds up later
/// units and changes no answer.
class Workers {
 public:
  Workers(const plan::Job& job, const cost::CostModel& cost,
          const simulate::SharedPricerCaches& prices, std::shared_ptr<LeastPlanWorkCache> works)
      : job_(job), cost_(cost), prices_(prices), works_(std::move(works)) {}

  /// Returns the number of a new search.
  std::size_t start_search() { return ++searches_; }

  /// Runs `work` with an idle `SubspaceSearch` set to the goal of a search. If `work` throws, that
  /// search is not used again, since what it remembers may be incomplete.
  template <class Work>
  void lend(const SearchGoal& goal, std::size_t search, Work&& work) {
    SubspaceSearch& worker = take();
    worker.set_search_goal(goal, search);
    work(worker);
    const std::lock_guard lock(mutex_);
    idle_.push_back(&worker);
  }

 private:
  SubspaceSearch& take() {
    const std::lock_guard lock(mutex_);
    if (idle_.empty()) {
      return *all_.emplace_back(std::make_unique<SubspaceSearch>(job_, cost_, prices_, works_));
    }
    SubspaceSearch& worker = *idle_.back();
    idle_.pop_back();
    return worker;
  }

  const plan::Job& job_;
  const cost::CostModel& cost_;
  simulate::SharedPricerCaches prices_;
  std::shared_ptr<LeastPlanWorkCache> works_;
  std::mutex mutex_;
  /// A unit of one search may read floors that another search owns, even while threads still work
  /// after one has thrown: all searches are destroyed together.
  std::vector<std::unique_ptr<SubspaceSearch>> all_;
  std::vector<SubspaceSearch*> idle_;
  std::size_t searches_ = 0;
};

namespace {

/// A search: the queue of units, and the findings in units that have left it.
class Search {
 public:
  Search(Workers& workers, const SearchGoal& goal, const SearchRunOptions& running)
      : goal_(goal),
        running_(running),
        workers_(workers),
        number_(workers.start_search()),
        all_(goal.keep) {}

  SearchFindings run(std::vector<SearchSubspace> units) {
    const bool bounds = !goal_.exhaustive;
    if (bounds && !goal_.least_memory) {
      all_.kept.limit_keys_of_kept_candidates(goal_.known.last * (1 + kLowerBoundRoundingShare),
                                              goal_.known.best, goal_.known.fitting_s);
    }
    for (SearchSubspace& unit : units) {
      unit.refined = !bounds;
      if (goal_.least_memory) unit.floor = 0;
      add(std::move(unit));
    }
    while (!queue_.empty()) {
      if (bounds && beaten(queue_.begin()->second)) break;
      const std::vector<SearchSubspace> round = next();
      if (round.front().refined) {
        search(round);
      } else {
        split_by_pipeline_degree(round);
      }
      running_.tell({.done = done_, .most = done_ + queue_.size(), .priced = all_.priced});
    }
    for (auto& [key, unit] : std::exchange(queue_, {})) put_aside(std::move(unit));
    look_again();
    for (const auto& [key, unit] : queue_) pass(unit);
    return std::move(all_);
  }

 private:
  [[nodiscard]] bool beaten(const SearchSubspace& unit) const {
    return unit.floor * (1 - kLowerBoundRoundingShare) > all_.kept.largest_key_of_kept_candidates();
  }
  void pass(const SearchSubspace& unit) {
    all_.passed_bound_s = std::min(all_.passed_bound_s, unit.simulated_floor_s);
  }
  /// Keeps a beaten unit for a second look if its bound is below the wanted one, else records its
  /// bound and drops it.
  void put_aside(SearchSubspace&& unit) {
    const bool open =
        goal_.bounds && unit.simulated_floor_s < all_.kept.lower_bound_to_reconsider_plan_s();
    if (!open || goal_.least_memory || goal_.exhaustive) return pass(unit);
    const double floor_s = unit.simulated_floor_s;
    aside_.emplace(floor_s, std::move(unit));
  }
  /// Looks closer at units that were put aside, least bounds first, as long as that raises the
  /// bound of skipped plans.
  void look_again() {
    std::size_t left = kLookedAt;
    const auto open = [&] {
      return !aside_.empty() &&
             aside_.begin()->first <
                 std::min(all_.passed_bound_s, all_.kept.lower_bound_to_reconsider_plan_s());
    };
    while (left > 0 && open()) {
      std::vector<SearchSubspace> round;
      const bool refined = aside_.begin()->second.refined;
      while (left > 0 && open() && round.size() < kLookedAtOnce &&
             aside_.begin()->second.refined == refined) {
        round.push_back(std::move(aside_.extract(aside_.begin()).mapped()));
        --left;
      }
      if (refined) {
        search(round);
      } else {
        split_by_pipeline_degree(round);
      }
    }
    for (const auto& [floor_s, unit] : aside_) pass(unit);
  }
  /// Queues a unit, or puts it aside where it is beaten.
  void add(SearchSubspace&& unit) {
    if (!goal_.exhaustive && beaten(unit)) return put_aside(std::move(unit));
    const std::pair key(unit.floor, added_++);
    queue_.emplace(key, std::move(unit));
  }

  /// Removes from the queue the units with the least floors for a round: all refined or all rough.
  std::vector<SearchSubspace> next() {
    std::vector<SearchSubspace> round;
    const bool refined = queue_.begin()->second.refined;
    const std::size_t most = refined ? searches_ : kRefinements;
    while (!queue_.empty() && round.size() < most && queue_.begin()->second.refined == refined) {
      round.push_back(std::move(queue_.extract(queue_.begin()).mapped()));
    }
    return round;
  }

  void split_by_pipeline_degree(const std::vector<SearchSubspace>& round) {
    std::vector<std::vector<SearchSubspace>> parts(round.size());
    parallel_for(running_.threads, round.size(), [&](std::size_t i) {
      workers_.lend(goal_, number_, [&](SubspaceSearch& worker) {
        parts[i] = worker.split_by_pipeline_degree(round[i], all_);
      });
    });
    for (std::vector<SearchSubspace>& list : parts) {
      for (SearchSubspace& part : list) add(std::move(part));
    }
  }

  void search(const std::vector<SearchSubspace>& round) {
    std::vector<SearchFindings> found(round.size(), SearchFindings(goal_.keep));
    parallel_for(running_.threads, round.size(), [&](std::size_t i) {
      workers_.lend(goal_, number_, [&](SubspaceSearch& worker) {
        found[i] = worker.search_subspace(round[i], all_);
      });
    });
    for (SearchFindings& findings : found) all_.merge(std::move(findings));
    done_ += round.size();
    searches_ = std::min(2 * searches_, kLargestRound);
  }

  SearchGoal goal_;
  const SearchRunOptions& running_;
  Workers& workers_;
  std::size_t number_;
  /// Units by floor, then by order of arrival.
  std::map<std::pair<double, std::size_t>, SearchSubspace> queue_;
  std::multimap<double, SearchSubspace> aside_;  ///< Beaten units, by their bound.
  std::size_t added_ = 0;
  std::size_t done_ = 0;
  std::size_t searches_ = kFirstRound;
  SearchFindings all_;
};

}  // namespace

struct PlanSearch::Store {
  Store(const plan::Job& of_job, const cost::CostModel& cost, const LegalPlanCounter& grids,
        const simulate::SharedPricerCaches& prices)
      : job(of_job),
        enumeration(grids),
        works(std::make_shared<LeastPlanWorkCache>()),
        work(of_job, cost, works),
        workers(of_job, cost, prices, works) {}

  const plan::Job& job;
  const LegalPlanCounter& enumeration;
  std::shared_ptr<LeastPlanWorkCache> works;
  WorkLowerBounds work;
  Workers workers;
  std::vector<SearchSubspace> units;  ///< Units of the search; empty before `prepare`.
};

PlanSearch::PlanSearch(const plan::Job& job, const cost::CostModel& cost,
                       const LegalPlanCounter& enumeration,
                       const simulate::SharedPricerCaches& prices)
    : store_(new Store(job, cost, enumeration, prices)) {}

PlanSearch::~PlanSearch() = default;

void PlanSearch::compute_lower_bounds_of_space() {
  if (!store_->units.empty()) return;
  store_->units = make_units(store_->job, store_->enumeration, store_->work);
}

SearchFindings PlanSearch::search_space_for_goal(const SearchGoal& goal,
                                                 const SearchRunOptions& running) {
  compute_lower_bounds_of_space();
  return Search(store_->workers, goal, running).run(store_->units);
}

}  // namespace stepwright::tune

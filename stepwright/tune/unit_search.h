#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "stepwright/memory/memory.h"
#include "stepwright/simulate/pricer.h"
#include "stepwright/tune/best_plans.h"
#include "stepwright/tune/census.h"
#include "stepwright/tune/work_floor.h"

namespace stepwright {

/// What a search looks for.
struct Goal {
  double capacity_bytes = 0;
  std::size_t keep = 100;
  bool exhaustive = false;
  bool least_memory = false;  ///< Among plans that need not fit.
};

/// All plans with the same tensor, context, expert and expert-tensor degree and micro-batch: they
/// share their blocks.
struct SearchUnit {
  std::int64_t micro_batch = 1;
  double floor_s = 0;            ///< Of the price of any plan in it.
  double simulated_floor_s = 0;  ///< Of the simulated time.
  std::vector<const GridChoice*> grids;
  Work work;
};

/// What searching one or more units found.
struct Findings {
  explicit Findings(std::size_t keep) : kept(keep) {}

  BestPlans kept;
  std::int64_t priced = 0;
  std::int64_t fitting = 0;
  /// Least bound of the simulated time of all plans that were passed over for their price.
  double passed_bound_s = std::numeric_limits<double>::infinity();
  std::map<std::string, std::int64_t> unsupported;  ///< Plans that no builder covers, by reason.

  void merge(Findings&& other);
};

/// Searches units with one pricer; one for each thread.
class UnitSearch {
 public:
  UnitSearch(const Job& job, const CostModel& cost, const Goal& goal);

  /// `threshold`: plans with a higher key are not wanted.
  Findings search(const SearchUnit& unit, double threshold);

 private:
  /// One pipeline without its sharding.
  struct Stages {
    StageFloor floor;
    const GridChoice* grid;
    const BlockChoice* block;
    const StageChoice* choice;
    const BlockCosts* costs;
  };
  [[nodiscard]] bool beaten(double floor_s) const;
  void list_stages(const SearchUnit& unit, const GridChoice& grid, const BlockChoice& block);
  const BlockCosts* blocks(const GridChoice& grid, const BlockChoice& block,
                           const StageChoice& choice, std::int64_t passed);
  void price_stages(const Stages& stages, Plan& plan);
  /// Bytes of states per parameter, for each of the grid's ways to shard.
  struct StateBytes {
    double dense = 0;
    double expert = 0;
  };
  const std::vector<StateBytes>& state_bytes(const GridChoice& grid);
  [[nodiscard]] bool too_large(const PipelineCost& pipeline, const StateBytes& states) const;
  void price(const PipelineCost& pipeline, const GridChoice& grid, const BlockChoice& block,
             Plan& plan);
  void pass(double simulated_floor_s);

  const Job& job_;
  Goal goal_;
  Pricer pricer_;
  Reserve reserve_;
  std::vector<double> layers_of_class_;  ///< In the order of `BlockCosts::layers`.
  Findings* found_ = nullptr;
  double threshold_ = 0;
  std::vector<Stages> stages_;
  std::map<const GridChoice*, std::vector<StateBytes>> state_bytes_;  ///< Of the unit at hand.
};

/// The plan of a grid without its choices.
Plan unit_plan(const Job& job, const SearchUnit& unit, const GridChoice& grid);

}  // namespace stepwright

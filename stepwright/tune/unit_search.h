#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "stepwright/memory/memory.h"
#include "stepwright/simulate/price/pricer.h"
#include "stepwright/simulate/price/room.h"
#include "stepwright/tune/balanced_split.h"
#include "stepwright/tune/best_plans.h"
#include "stepwright/tune/choice_floor.h"
#include "stepwright/tune/enumeration.h"
#include "stepwright/tune/sharding_floor.h"
#include "stepwright/tune/stage_floor.h"
#include "stepwright/tune/work_floor.h"

namespace stepwright::tune {

// The search of one part of the space. Of all plans of a unit it keeps the `keep` least by key
//
//     price.seconds              where the room holds the price, or
//     room.needed_bytes(price)   when looking for the least memory,
//
// and drops a part of the unit as soon as a floor of that key is above the worst one kept:
//
//     pipeline before it is composed    stage_floor(work of its blocks)            (stage_floor.h)
//     composed, before its shardings    pipeline.seconds; memory_floor_bytes
//     one sharding of it                pipeline.seconds + m (slowest - base), where slowest is the
//                                       longest forward and backward of a position with the
//                                       messages of its parameters and gradients laid beside or
//                                       after them, base without (sharding_floor.h)
//
// with m micro-batches. For all that is dropped it keeps the least bound of the simulated time.

/// Bounds and prices add the same terms in different orders: floors are lowered by this share, so
/// that rounding never puts a floor above a price.
inline constexpr double kPriceRounding = 1e-9;

/// Keys of plans that are known before a search begins.
struct KnownKeys {
  double best = std::numeric_limits<double>::infinity();  ///< The least key of a known plan.
  /// A known key above which no plan is kept.
  double last = std::numeric_limits<double>::infinity();
  double fitting_s = 0;  ///< Step time of a plan that fits; 0: none is known.
};

/// The target of a search: the plans that it looks for and keeps.
struct SearchGoal {
  simulate::Room room;
  std::size_t keep = 100;
  bool exhaustive = false;
  bool least_memory = false;  ///< Looks for the least memory, among plans that need not fit.
  bool bounds = true;         ///< False: bounds of the plans that are left out are not needed.
  KnownKeys known;
};

/// All plans with the same tensor, context, expert and expert-tensor degree and micro-batch: they
/// share their blocks. A refined unit holds the plans of one pipeline degree only, and its floors
/// are computed from its own blocks.
struct SearchUnit {
  std::int64_t micro_batch = 1;
  double floor = 0;              ///< Lower bound of the key (price, or memory) of its plans.
  double simulated_floor_s = 0;  ///< Lower bound of the simulated time of its plans.
  bool refined = false;
  std::vector<const GridChoice*> grids;
  const Work* work = nullptr;  ///< Least work of its plans; valid as long as the search.
};

/// The findings of searching one or more units.
struct SearchFindings {
  /// `all`: the findings that these will be merged into; null: none.
  explicit SearchFindings(std::size_t keep, const SearchFindings* all = nullptr)
      : kept(keep, all ? &all->kept : nullptr) {}

  BestPlans kept;
  std::int64_t priced = 0;
  std::int64_t fitting = 0;
  /// Least lower bound of the simulated time of all plans that were skipped before they had a
  /// price.
  double passed_bound_s = std::numeric_limits<double>::infinity();

  void merge(SearchFindings&& other);
};

/// Searches units with a pricer of its own; each thread has one such search.
class UnitSearch {
 public:
  /// `prices` may be shared with other searches of the job.
  UnitSearch(const plan::Job& job, const cost::CostModel& cost, const simulate::PriceStore& prices);

  /// Sets the goal for which the next parts are searched.
  void aim(const SearchGoal& goal) { goal_ = goal; }

  /// Splits a unit by pipeline degree. The floors of the new units use its expert degrees and the
  /// memory of its states; degrees whose states cannot fit are left out. `all`: the findings so
  /// far.
  std::vector<SearchUnit> refine(const SearchUnit& unit, const SearchFindings& all);
  /// Searches a refined unit. `all`: the findings so far.
  SearchFindings search(const SearchUnit& unit, const SearchFindings& all);

 private:
  /// A pipeline (grid, block choice and stage choice) without its sharding.
  struct Stages {
    StageFloor floor;
    const GridChoice* grid;
    const BlockChoice* block;
    const StageChoice* choice;
    const simulate::BlockCosts* costs;  ///< Costs of its blocks; null where they were not needed.
  };
  /// True if plans that are too slow or too large may be left out.
  [[nodiscard]] bool filters() const;
  [[nodiscard]] bool beaten(double floor_s) const;
  /// True if every plan above a floor is beaten, and so slow that it is never looked at again.
  [[nodiscard]] bool closed(const StageFloor& floor) const;
  /// True if every plan above a floor is beaten, and a bound as low as theirs is already recorded:
  /// skipping them changes nothing.
  [[nodiscard]] bool settled(const StageFloor& floor) const;
  /// True if a beaten plan with at least this simulated time can be dropped unrecorded: it is never
  /// looked at again, and a bound as low is already recorded.
  [[nodiscard]] bool forgets(double simulated_s) const;
  /// Visits the floors of a choice with even or listed layers and with its balanced split, except
  /// floors that are `settled`.
  template <class Visit>
  void each_floor(const Work& work, const StageChoice& choice, const plan::Plan& plan,
                  Visit&& visit);
  /// The pipelines of a grid with floors that know only one fact about their blocks: how these
  /// exchange the context.
  struct RoughChoices {
    const BlockChoice* block;  ///< A block choice with this exchange of the context.
    std::vector<std::pair<const StageChoice*, StageFloor>> choices;
  };
  RoughChoices rough_choices(const SearchUnit& unit, const GridChoice& grid,
                             const BlockChoice& block);
  template <class Visit>
  void each_stages(const SearchUnit& unit, Visit&& visit);
  template <class Visit>
  void each_choice(const SearchUnit& unit, const Stages& common, const RoughChoices& rough,
                   Visit&& visit);
  [[nodiscard]] plan::Plan block_plan(const GridChoice& grid, const BlockChoice& block,
                                      std::int64_t micro_batch) const;
  const simulate::BlockCosts& blocks(const Stages& stages, std::int64_t micro_batch);
  void list(const Stages& stages, const SearchUnit& unit);
  bool too_large(const Stages& stages, const SearchUnit& unit);
  [[nodiscard]] bool position_too_large(const Stages& stages, std::int64_t micro_batches) const;
  void price_stages(const Stages& stages, plan::Plan& plan);
  [[nodiscard]] bool too_large(const simulate::PipelineCost& pipeline,
                               const StateBytes& states) const;
  [[nodiscard]] double simulated_floor_s(const simulate::PipelineCost& pipeline,
                                         const plan::Overlap& overlap,
                                         const PositionTimes& positions,
                                         const ShardingTable::Choice& choice) const;
  simulate::Price choice_price(const simulate::PipelineCost& pipeline, const plan::Plan& plan,
                               const PositionTimes& positions, const ShardingTable::Choice& choice,
                               const std::vector<double>& updates_s);
  void price_choices(const simulate::PipelineCost& pipeline, const Stages& stages,
                     plan::Plan& plan);
  [[nodiscard]] double activations_floor(const GridChoice& grid, const StageChoice& choice,
                                         std::int64_t m, double retained_bytes);
  /// Returns the layers of each pipeline position; where chunks go down and up again, those of its
  /// smallest chunk only.
  const std::vector<std::int64_t>& position_layers(const StageChoice& choice,
                                                   std::int64_t pipeline);
  /// True if a choice cannot fit beside `states_bytes`, by the least bytes that its layers keep.
  bool keeps_too_much(const GridChoice& grid, const StageChoice& choice, const Work& work,
                      std::int64_t micro_batches, double states_bytes);
  /// True if the least bytes of activations, beside the states, are more than a device has.
  bool overfills(const GridChoice& grid, const StageChoice& choice, std::int64_t micro_batches,
                 double states_bytes, double retained_bytes);
  /// Returns the least bytes of states on the mean position of a grid, without memory that is set
  /// aside.
  double least_states_bytes(const GridChoice& grid, const Work& work);
  /// Lower bounds over all ways to shard of a grid.
  struct StatesFloor {
    double memory_bytes = 0;  ///< Least bytes that any way to shard needs.
    double messages_s = 0;    ///< Least seconds of a micro-batch; infinite: none fits.
  };
  StatesFloor states_floor(const GridChoice& grid, const Work& work, double activation_bytes);
  /// Returns the least work of a unit's plans, with at most the overlap `overlap`, and with the
  /// least messages of the grid's ways to exchange the context.
  Work least_work(const GridChoice& grid, const SearchUnit& part, const plan::Overlap& overlap);
  template <class Visit>
  void each_least_work(const GridChoice& grid, const SearchUnit& part, Visit&& visit);
  StageFloor work_floor(const GridChoice& grid, const SearchUnit& part, const Work& work);
  StageFloor fitting_floor(const GridChoice& grid, const SearchUnit& part, double states_bytes);
  void refine_grid(const GridChoice& grid, SearchUnit& part);
  void offer(const plan::Plan& plan, const simulate::Price& price, bool counts);
  void pass(double simulated_floor_s);

  const plan::Job& job_;
  SearchGoal goal_;
  simulate::Pricer pricer_;
  ShardingFloor sharding_;
  ChoiceFloor choice_floor_;
  WorkFloor work_;
  BalancedChoices balanced_;
  memory::DeviceReserve reserve_;
  SearchFindings* found_ = nullptr;
  double passed_before_s_ = 0;  ///< Least bound of the plans skipped so far.
  /// Layers of positions under even splits, by pipeline degree, kind of schedule and chunks.
  std::map<std::tuple<std::int64_t, schedule::ScheduleKind, std::int64_t>,
           std::vector<std::int64_t>>
      even_layers_;
  /// Scratch: layers of positions where the choice lists them.
  std::vector<std::int64_t> listed_layers_;
  std::vector<Stages> stages_;
  std::vector<simulate::DataCost> messages_;  ///< Scratch: messages by position.
  const GridChoice* states_of_ = nullptr;  ///< The grid whose least states `states_bytes_` holds.
  double states_bytes_ = 0;
  const GridChoice* least_states_of_ = nullptr;  ///< The grid whose states `least_states_` holds.
  StateBytes least_states_;                      ///< Bytes of states for one parameter.
};

/// Returns the flags of a block's overlap that floors take into account.
plan::Overlap floor_overlap(const BlockChoice& block);

template <class Visit>
void UnitSearch::each_floor(const Work& work, const StageChoice& choice, const plan::Plan& plan,
                            Visit&& visit) {
  const std::int64_t pipeline = plan.parallel.pipeline;
  const std::int64_t rounds = job_.sequences / (plan.parallel.data * plan.micro_batch);
  const auto see = [&](const StageChoice& split) {
    const StageFloor floor = stage_floor(work, work_.layers(), split, pipeline, rounds);
    if (!settled(floor)) visit(split, floor);
  };
  see(choice);
  if (!choice.balances) return;
  if (settled(any_stage_floor(work, work_.layers(), choice, pipeline, rounds))) return;
  balanced_.balanced(choice, plan, see);
}

/// True if two block choices exchange the context alike.
bool same_context(const BlockChoice& a, const BlockChoice& b);

/// Returns the plan of a grid and a unit's micro-batch, without block, stage or sharding choices.
plan::Plan unit_plan(const plan::Job& job, const SearchUnit& unit, const GridChoice& grid);

}  // namespace stepwright::tune

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

/// Bounds and prices add the same terms in different orders: what floors give up for it.
inline constexpr double kPriceRounding = 1e-9;

/// Keys that are known before a search begins.
struct KnownKeys {
  double best = std::numeric_limits<double>::infinity();  ///< The least of them.
  double last = std::numeric_limits<double>::infinity();  ///< No plan above it is kept.
  double fitting_s = 0;  ///< Step time of a plan that fits; 0: none is known.
};

/// The goal of a search.
struct Goal {
  simulate::Room room;
  std::size_t keep = 100;
  bool exhaustive = false;
  bool least_memory = false;  ///< Among plans that need not fit.
  bool bounds = true;  ///< False: nobody asks what bounds say of the plans that are left out.
  KnownKeys known;
};

/// All plans with the same tensor, context, expert and expert-tensor degree and micro-batch: they
/// share their blocks. A refined one holds those of one pipeline degree, and its floors are from
/// its own blocks.
struct SearchUnit {
  std::int64_t micro_batch = 1;
  double floor = 0;              ///< Floor of the key of its plans: price, or memory.
  double simulated_floor_s = 0;  ///< Floor of the simulated time.
  bool refined = false;
  std::vector<const GridChoice*> grids;
  const Work* work = nullptr;  ///< Lives as long as the search.
};

/// The findings of searching one or more units.
struct Findings {
  /// `all`: what these will be merged into.
  explicit Findings(std::size_t keep, const Findings* all = nullptr)
      : kept(keep, all ? &all->kept : nullptr) {}

  BestPlans kept;
  std::int64_t priced = 0;
  std::int64_t fitting = 0;
  /// Least bound of the simulated time of all plans that were passed over before they had a price.
  double passed_bound_s = std::numeric_limits<double>::infinity();

  void merge(Findings&& other);
};

/// Searches units with one pricer; one for each thread.
class UnitSearch {
 public:
  /// `prices` may be shared with other searches of the job.
  UnitSearch(const plan::Job& job, const cost::CostModel& cost, const simulate::PriceStore& prices);

  /// Sets the goal for which the next parts are searched.
  void aim(const Goal& goal) { goal_ = goal; }

  /// Cuts a unit by pipeline degree, with floors that know its expert degrees and that its states
  /// have to fit. Leaves out where they cannot. `all`: what was found until now.
  std::vector<SearchUnit> refine(const SearchUnit& unit, const Findings& all);
  /// `all`: what was found until now.
  Findings search(const SearchUnit& unit, const Findings& all);

 private:
  /// One pipeline without its sharding.
  struct Stages {
    StageFloor floor;
    const GridChoice* grid;
    const BlockChoice* block;
    const StageChoice* choice;
    const simulate::BlockCosts* costs;  ///< Null where they were not needed.
  };
  /// Whether plans that are too slow or too large may be left out.
  [[nodiscard]] bool filters() const;
  [[nodiscard]] bool beaten(double floor_s) const;
  /// Whether all above a floor is beaten, and so slow that nobody looks at it again.
  [[nodiscard]] bool closed(const StageFloor& floor) const;
  /// Whether all above a floor is beaten, and a bound as low as theirs is known: to pass it over
  /// changes nothing.
  [[nodiscard]] bool settled(const StageFloor& floor) const;
  /// Whether a plan that is beaten need not be left to anybody: its simulated time is at least
  /// this, nobody looks at it again, and a bound as low is known.
  [[nodiscard]] bool forgets(double simulated_s) const;
  /// Visits the floors of a choice with even or listed layers and with its balanced split, but
  /// where they are settled.
  template <class Visit>
  void each_floor(const Work& work, const StageChoice& choice, const plan::Plan& plan,
                  Visit&& visit);
  /// The pipelines of a grid by floors that know of their blocks how these exchange the context.
  struct RoughChoices {
    const BlockChoice* block;  ///< One that exchanges it so.
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
  /// Layers of each pipeline position, of its smallest chunk alone where chunks turn back.
  const std::vector<std::int64_t>& position_layers(const StageChoice& choice,
                                                   std::int64_t pipeline);
  /// Whether a choice cannot fit beside `states_bytes`, by what its layers keep at least.
  bool keeps_too_much(const GridChoice& grid, const StageChoice& choice, const Work& work,
                      std::int64_t micro_batches, double states_bytes);
  /// True if the least bytes of activations, beside the states, are more than a device has.
  bool overfills(const GridChoice& grid, const StageChoice& choice, std::int64_t micro_batches,
                 double states_bytes, double retained_bytes);
  /// The least states of a grid on its mean position, in bytes, without what is set aside.
  double least_states_bytes(const GridChoice& grid, const Work& work);
  /// Floors of a grid's ways to shard.
  struct StatesFloor {
    double memory_bytes = 0;  ///< The least that any needs.
    double messages_s = 0;    ///< Least seconds of a micro-batch; infinite: none fits.
  };
  StatesFloor states_floor(const GridChoice& grid, const Work& work, double activation_bytes);
  /// The work of a part, in which no more runs beside computation than `overlap` says, with what
  /// the grid's ways to exchange the context send at least.
  Work least_work(const GridChoice& grid, const SearchUnit& part, const plan::Overlap& overlap);
  template <class Visit>
  void each_least_work(const GridChoice& grid, const SearchUnit& part, Visit&& visit);
  StageFloor work_floor(const GridChoice& grid, const SearchUnit& part, const Work& work);
  StageFloor fitting_floor(const GridChoice& grid, const SearchUnit& part, double states_bytes);
  void refine_grid(const GridChoice& grid, SearchUnit& part);
  void offer(const plan::Plan& plan, const simulate::Price& price, bool counts);
  void pass(double simulated_floor_s);

  const plan::Job& job_;
  Goal goal_;
  simulate::Pricer pricer_;
  ShardingFloor sharding_;
  ChoiceFloor choice_floor_;
  WorkFloor work_;
  BalancedChoices balanced_;
  memory::Reserve reserve_;
  Findings* found_ = nullptr;
  double passed_before_s_ = 0;  ///< Least bound that was passed over until now.
  /// By pipeline degree, kind of schedule and chunks: layers of positions where splits are even.
  std::map<std::tuple<std::int64_t, schedule::ScheduleKind, std::int64_t>,
           std::vector<std::int64_t>>
      even_layers_;
  std::vector<std::int64_t> listed_layers_;  ///< Scratch: the same where they are listed.
  std::vector<Stages> stages_;
  std::vector<simulate::DataCost> messages_;  ///< Scratch: messages by position.
  const GridChoice* states_of_ = nullptr;     ///< Whose least states the next member is.
  double states_bytes_ = 0;
  const GridChoice* least_states_of_ = nullptr;  ///< Whose states the next member is.
  StateBytes least_states_;                      ///< States of one parameter.
};

/// Returns the part of a block's overlap that floors know.
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

/// Whether two choices exchange the context alike.
bool same_context(const BlockChoice& a, const BlockChoice& b);

/// The plan of a grid without its choices.
plan::Plan unit_plan(const plan::Job& job, const SearchUnit& unit, const GridChoice& grid);

}  // namespace stepwright::tune

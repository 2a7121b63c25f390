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
#include "stepwright/tune/enumeration.h"
#include "stepwright/tune/pipeline_lower_bound.h"
#include "stepwright/tune/sharded_price_lower_bound.h"
#include "stepwright/tune/sharding_lower_bounds.h"
#include "stepwright/tune/work_lower_bounds.h"

namespace stepwright::tune {

// The search of one part of the space. Of all plans of a unit it keeps the `keep` least by key
//
//     price.seconds              where the room holds the price, or
//     room.needed_bytes(price)   when looking for the least memory,
//
// and drops a part of the unit as soon as a floor of that key is above the worst one kept:
//
//     pipeline before it is composed    pipeline_lower_bound(work of its blocks)
//                                       (pipeline_lower_bound.h)
//     composed, before its shardings    pipeline.seconds; memory_floor_bytes
//     one sharding of it                pipeline.seconds + m (slowest - base), where slowest is the
//                                       longest forward and backward of a position with the
//                                       messages of its parameters and gradients laid beside or
//                                       after them, base without (sharding_lower_bounds.h)
//
// with m micro-batches. For all that is dropped it keeps the least bound of the simulated time.

/// Share by which lower bounds are lowered before they are compared with prices. Bounds and prices
/// add equal terms in different orders, so rounding could put a bound above its price.
inline constexpr double kLowerBoundRoundingShare = 1e-9;

/// Keys (prices, or memory) of plans that are known before a search begins, which limit the search
/// from its start.
struct KnownPlanKeys {
  /// Least key (price, or memory) of the known plans.
  double best = std::numeric_limits<double>::infinity();
  /// Largest key that a plan may have to be worth keeping: enough known plans have this key or a
  /// smaller one.
  double last = std::numeric_limits<double>::infinity();
  double fitting_s = 0;  ///< Step time in seconds of a plan that is known to fit; 0: none is known.
};

/// The goal of a search: which plans it looks for, and how many it keeps.
struct SearchGoal {
  simulate::AvailablePlanMemory room;
  std::size_t keep = 100;
  bool exhaustive = false;
  /// True: looks for the plans with the least memory, which need not fit; false: for the fastest
  /// plans that fit.
  bool least_memory = false;
  /// True: the search also records lower bounds of the plans that it leaves out; false: they are
  /// not needed.
  bool bounds = true;
  KnownPlanKeys known;
};

/// A part of the search space: all plans with equal tensor, context, expert and expert-tensor
/// degrees and micro-batch, which share their blocks. A refined part holds the plans of one
/// pipeline degree, with bounds from its own blocks.
struct SearchSubspace {
  std::int64_t micro_batch = 1;
  double floor = 0;  ///< Lower bound over the part's plans: price in seconds, or memory bytes.
  /// Lower bound of the simulated step time, in seconds, of all plans of this part of the space.
  double simulated_floor_s = 0;
  bool refined = false;
  std::vector<const RankGridChoice*> grids;
  /// Lower bound of the work of one micro-batch, over all plans of this part of the space; valid as
  /// long as the search.
  const LeastPlanWork* work = nullptr;
};

/// Cache of lower bounds over the pipelines of one combination of degrees, by all that they depend
/// on: work of a micro-batch, first choice of the (shared) list of stage choices, pipeline degree,
/// micro-batches.
using FloorsOfEqualPipelines = std::map<
    std::tuple<const LeastPlanWork*, const PipelineStageChoice*, std::int64_t, std::int64_t>,
    PipelineLowerBound>;

/// Best plans and counts that the search of one or more parts of the space found.
struct SearchFindings {
  /// Starts with no findings. `keep`: number of best plans to keep. `all`: the findings into which
  /// these will be merged; null: none.
  explicit SearchFindings(std::size_t keep, const SearchFindings* all = nullptr)
      : kept(keep, all ? &all->kept : nullptr) {}

  BestPlanCandidates kept;
  std::int64_t priced = 0;
  std::int64_t fitting = 0;
  /// Least lower bound of the simulated step time, in seconds, of all plans that were skipped
  /// before they were priced.
  double passed_bound_s = std::numeric_limits<double>::infinity();

  void merge(SearchFindings&& other);
};

/// Searches parts of the space (`SearchSubspace`) with its own pricer; each thread has one such
/// object.
class SubspaceSearch {
 public:
  /// Makes a searcher for one thread. `prices` and `works`: caches of computed prices and work
  /// estimates, which searches of the same job may share.
  SubspaceSearch(const plan::Job& job, const cost::CostModel& cost,
                 const simulate::SharedPricerCaches& prices,
                 std::shared_ptr<LeastPlanWorkCache> works);

  /// Sets the goal of the following calls. `search`: number of the search to which they belong;
  /// bounds cached for another search are dropped.
  void set_search_goal(const SearchGoal& goal, std::size_t search) {
    goal_ = goal;
    if (search != search_) work_floors_.clear();
    search_ = search;
  }

  /// Splits a part of the space by pipeline degree. The lower bounds of the new parts take the
  /// expert degrees and the memory of states into account; degrees whose states cannot fit are left
  /// out. `all`: the findings so far.
  std::vector<SearchSubspace> split_by_pipeline_degree(const SearchSubspace& unit,
                                                       const SearchFindings& all);
  /// Searches a refined part of the space, and returns its best plans. `all`: the findings so far.
  SearchFindings search_subspace(const SearchSubspace& unit, const SearchFindings& all);

 private:
  /// A pipeline before its sharding is chosen: degrees and rank order (`grid`), block choice, and
  /// stage choice (schedule, recomputation, layers).
  struct UnshardedPipeline {
    PipelineLowerBound floor;
    const RankGridChoice* grid;
    const ModelBlockChoice* block;
    const PipelineStageChoice* choice;
    /// Costs of the pipeline's blocks; null if they were not needed.
    const simulate::ModelBlockCosts* costs;
  };
  /// True if the search may skip plans that are too slow or do not fit in memory.
  [[nodiscard]] bool may_skip_slow_or_large_plans() const;
  [[nodiscard]] bool beaten(double floor_s) const;
  /// True if the lower bounds of a pipeline's plans show that none can be among the best, and that
  /// none needs to be looked at again.
  [[nodiscard]] bool is_ruled_out_by_lower_bounds(const PipelineLowerBound& floor) const;
  /// True if the lower bounds of a pipeline's plans show that none can be among the best, and
  /// skipping them does not lower the bound recorded for skipped plans.
  [[nodiscard]] bool can_skip_plans_without_record(const PipelineLowerBound& floor) const;
  /// True if a plan that is not among the best can be dropped without a record: with this simulated
  /// time it never needs to be looked at again, and a bound as low is already recorded.
  [[nodiscard]] bool can_drop_plan_without_record(double simulated_s) const;
  /// Visits a stage choice (schedule, recomputation and split of the layers) and the same choice
  /// with layers split so that stages take equal time, each with its lower bounds. Skips a choice
  /// that its bounds already rule out.
  template <class VisitorCallback>
  void each_floor(const LeastPlanWork& work, const PipelineStageChoice& choice,
                  const plan::Plan& plan, VisitorCallback&& visit);
  /// Stage choices for one combination of degrees, with lower bounds that hold for all blocks that
  /// exchange the context in one way.
  struct StageChoicesWithBounds {
    /// An example of the block choices that exchange the context in this way.
    const ModelBlockChoice* block;
    std::vector<std::pair<const PipelineStageChoice*, PipelineLowerBound>> choices;
  };
  StageChoicesWithBounds rough_choices(const SearchSubspace& unit, const RankGridChoice& grid,
                                       const ModelBlockChoice& block);
  template <class VisitorCallback>
  void each_stages(const SearchSubspace& unit, VisitorCallback&& visit);
  template <class VisitorCallback>
  void each_choice(const SearchSubspace& unit, const UnshardedPipeline& common,
                   const StageChoicesWithBounds& rough, VisitorCallback&& visit);
  [[nodiscard]] plan::Plan block_plan(const RankGridChoice& grid, const ModelBlockChoice& block,
                                      std::int64_t micro_batch) const;
  const simulate::ModelBlockCosts& blocks(const UnshardedPipeline& stages,
                                          std::int64_t micro_batch);
  void list(const UnshardedPipeline& stages, const SearchSubspace& unit);
  bool too_large(const UnshardedPipeline& stages, const SearchSubspace& unit);
  [[nodiscard]] bool position_too_large(const UnshardedPipeline& stages,
                                        std::int64_t micro_batches) const;
  void price_stages(const UnshardedPipeline& stages, plan::Plan& plan);
  [[nodiscard]] bool too_large(const simulate::PipelineCost& pipeline,
                               const StateBytesPerParameter& states) const;
  [[nodiscard]] double simulated_floor_s(const simulate::PipelineCost& pipeline,
                                         const plan::OverlapFlags& overlap,
                                         const PositionTimes& positions,
                                         const ShardingChoiceTable::Choice& choice) const;
  simulate::PlanPrice choice_price(const simulate::PipelineCost& pipeline, const plan::Plan& plan,
                                   const PositionTimes& positions,
                                   const ShardingChoiceTable::Choice& choice,
                                   const std::vector<double>& updates_s);
  void price_choices(const simulate::PipelineCost& pipeline, const UnshardedPipeline& stages,
                     plan::Plan& plan);
  [[nodiscard]] double activations_floor(const RankGridChoice& grid,
                                         const PipelineStageChoice& choice, std::int64_t m,
                                         double retained_bytes);
  /// Returns the number of layers of each pipeline rank; if chunks lie in a V (down the ranks and
  /// up again), only the layers of its smallest chunk.
  const std::vector<std::int64_t>& layers_per_position(const PipelineStageChoice& choice,
                                                       std::int64_t pipeline);
  /// True if the least activation bytes of a stage choice (schedule, recomputation, layers) do not
  /// fit in device memory beside states of `states_bytes`.
  bool activations_exceed_memory(const RankGridChoice& grid, const PipelineStageChoice& choice,
                                 const LeastPlanWork& work, std::int64_t micro_batches,
                                 double states_bytes);
  /// True if states and the least bytes of activations together exceed the memory of a device.
  /// `retained_bytes`: least bytes that a layer keeps for its backward.
  bool is_over_device_memory(const RankGridChoice& grid, const PipelineStageChoice& choice,
                             std::int64_t micro_batches, double states_bytes,
                             double retained_bytes);
  /// Returns the least bytes of states over all ways to shard, for a pipeline rank of mean size,
  /// without reserved memory.
  double min_model_state_bytes(const RankGridChoice& grid, const LeastPlanWork& work);
  /// Lower bounds of memory and message time over all ways to shard the states, for one combination
  /// of degrees.
  struct ShardedStateLowerBounds {
    double memory_bytes = 0;  ///< Least bytes per device over all ways to shard.
    /// Least seconds of sharding messages of one micro-batch; infinite: no way to shard fits in
    /// memory.
    double messages_s = 0;
  };
  ShardedStateLowerBounds states_floor(const RankGridChoice& grid, const LeastPlanWork& work,
                                       double activation_bytes);
  /// Returns the lower bound of the work of the plans in a part of the space, with at most the
  /// overlap `overlap`, including the cheapest messages among the ways to exchange the context.
  const LeastPlanWork& work_lower_bound_of_subspace(const RankGridChoice& grid,
                                                    const SearchSubspace& part,
                                                    const plan::OverlapFlags& overlap);
  LeastPlanWork with_least_context_messages(const LeastPlanWork& own, const RankGridChoice& grid,
                                            const SearchSubspace& part);
  template <class VisitorCallback>
  void each_least_work(const RankGridChoice& grid, const SearchSubspace& part,
                       VisitorCallback&& visit);
  PipelineLowerBound work_floor(const RankGridChoice& grid, const SearchSubspace& part,
                                const LeastPlanWork& work);
  const PipelineLowerBound& shared_work_floor(const RankGridChoice& grid,
                                              const SearchSubspace& part);
  PipelineLowerBound fitting_floor(const RankGridChoice& grid, const SearchSubspace& part,
                                   double states_bytes);
  void refine_grid(const RankGridChoice& grid, SearchSubspace& part);
  void offer(const plan::Plan& plan, const simulate::PlanPrice& price, bool counts);
  void pass(double simulated_floor_s);

  const plan::Job& job_;
  SearchGoal goal_;
  std::size_t search_ = 0;
  simulate::PlanPricer pricer_;
  ShardingLowerBounds sharding_;
  ShardedPriceLowerBound choice_floor_;
  WorkLowerBounds work_;
  BalancedLayerSplitter balanced_;
  /// Cache of `work_floor` for the least work of all plans of a part of the space. Valid for one
  /// search, in which what may be skipped stays so.
  FloorsOfEqualPipelines work_floors_;
  /// Lower bounds of work, context-parallel messages included, for the part of the space being
  /// split, by block choice and overlap; they do not depend on the pipeline degree.
  std::map<std::pair<const ModelBlockChoice*, plan::OverlapFlags>, LeastPlanWork> works_of_unit_;
  memory::DeviceMemoryReserve reserve_;
  SearchFindings* found_ = nullptr;
  /// Least lower bound of the simulated time, in seconds, of the plans skipped before this search.
  double passed_before_s_ = 0;
  /// Number of layers of each pipeline rank under even splits, by pipeline degree, kind of schedule
  /// and number of chunks.
  std::map<std::tuple<std::int64_t, schedule::PipelineScheduleKind, std::int64_t>,
           std::vector<std::int64_t>>
      even_layers_;
  /// Scratch memory: number of layers of each pipeline rank, for choices that list their layers.
  std::vector<std::int64_t> listed_layers_;
  std::vector<UnshardedPipeline> stages_;
  /// Scratch memory: costs of the messages of sharded states, by pipeline rank.
  std::vector<simulate::ShardingMessageCost> messages_;
  /// The combination of degrees and rank order to which `states_bytes_` (its least bytes of states)
  /// belongs; null: none.
  const RankGridChoice* states_of_ = nullptr;
  double states_bytes_ = 0;
  /// The combination of degrees and rank order to which `least_states_` belongs; null: none.
  const RankGridChoice* least_states_of_ = nullptr;
  /// Least bytes of states for one parameter of each kind, over all ways to shard.
  StateBytesPerParameter least_states_;
};

/// Returns those overlap flags of a block choice that lower bounds take into account.
plan::OverlapFlags overlap_in_lower_bounds(const ModelBlockChoice& block);

template <class VisitorCallback>
void SubspaceSearch::each_floor(const LeastPlanWork& work, const PipelineStageChoice& choice,
                                const plan::Plan& plan, VisitorCallback&& visit) {
  const std::int64_t pipeline = plan.parallel.pipeline;
  const std::int64_t rounds = job_.sequences / (plan.parallel.data * plan.micro_batch);
  const auto see = [&](const PipelineStageChoice& split) {
    const PipelineLowerBound floor =
        pipeline_lower_bound(work, work_.layers(), split, pipeline, rounds);
    if (!can_skip_plans_without_record(floor)) visit(split, floor);
  };
  see(choice);
  if (!choice.is_balanced_split_tried) return;
  if (can_skip_plans_without_record(
          any_layer_split_lower_bound(work, work_.layers(), choice, pipeline, rounds)))
    return;
  balanced_.balanced(choice, plan, see);
}

/// True if two block choices exchange the context in the same way: equal kind, overlap and
/// algorithm.
bool has_same_context_parallel_exchange(const ModelBlockChoice& a, const ModelBlockChoice& b);

/// Returns a plan with the degrees and rank order of `grid` and the micro-batch of `unit`, and with
/// all other choices at their defaults.
plan::Plan default_plan_of_subspace(const plan::Job& job, const SearchSubspace& unit,
                                    const RankGridChoice& grid);

}  // namespace stepwright::tune

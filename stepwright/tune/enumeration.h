#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <tuple>
#include <vector>

#include "stepwright/plan/grid.h"
#include "stepwright/tune/block_choices.h"
#include "stepwright/tune/data_choices.h"
#include "stepwright/tune/stage_choices.h"

namespace stepwright::tune {

/// A combination of parallelism degrees and rank order with at least one legal plan, and the
/// choices that its plans may make.
struct RankGridChoice {
  plan::ParallelismDegrees parallel;
  plan::RankOrder order;  ///< Order of the rank axes (tensor, context, data ...) in canonical form.
  /// Block choices (overlap, algorithms, ...) that plans with these degrees may make; the list is
  /// stored by the `LegalPlanCounter`.
  std::span<const ModelBlockChoice> blocks;
  std::int64_t blocks_without_parameters = 0;
  const StageChoiceTable* stages = nullptr;
  const DataParallelChoiceTable* data = nullptr;
  /// The narrowest number type in which the search lets gradients be accumulated. Blocks are priced
  /// in it, so that their price is a lower bound for every type.
  DType accumulate{};
  plan::FrameworkSupport::FrameworkPropertyCoupling joint;

  /// True if the framework's rules on combinations of choices allow this block choice with the
  /// given stage and sharding choices, and it gives up no overlap needlessly.
  [[nodiscard]] bool framework_allows_choices(
      const ModelBlockChoice& block, const plan::FrameworkSupport::FrameworkPropertyCoupling& stage,
      const plan::FrameworkSupport::FrameworkPropertyCoupling& states) const {
    const plan::FrameworkSupport::FrameworkPropertyCoupling all =
        joint | block.joint | stage | states;
    return all.runs() && !block.gives_up_overlap_needlessly(all.holds);
  }
  /// True if the framework's rules on combinations of choices allow this block choice with this
  /// stage choice for at least one sharding.
  [[nodiscard]] bool framework_allows_choices(const ModelBlockChoice& block,
                                              const PipelineStageChoice& stage) const {
    return (joint | block.joint | stage.joint).runs() &&
           !block.gives_up_overlap_needlessly(joint.holds | block.joint.holds | stage.joint.holds |
                                              data->holds);
  }

  /// Returns the number of data-parallel choices with which a block choice makes different plans.
  [[nodiscard]] std::int64_t data_parallel_choice_count(const ModelBlockChoice& choice) const {
    return choice.first_without_parameters ? std::ssize(data->choices) : data->gathering;
  }
};

/// Returns a plan with the given degrees and rank order and with default choices otherwise, legal
/// once a legal block choice is written into it.
plan::Plan default_plan_of_rank_grid(const plan::Job& job, const plan::ParallelismDegrees& parallel,
                                     const plan::RankOrder& order);

/// Counts the legal plans of a search space, and the refused ones by reason, as products of the
/// numbers of independent choices, without visiting every plan.
class LegalPlanCounter {
 public:
  LegalPlanCounter(const plan::Job& job, const SearchSpaceDimensions& space);

  [[nodiscard]] const std::vector<RankGridChoice>& grids() const { return grids_; }
  [[nodiscard]] std::int64_t total() const { return total_; }
  [[nodiscard]] std::int64_t legal() const { return legal_; }
  [[nodiscard]] std::int64_t duplicates() const { return points_ - legal_; }
  [[nodiscard]] const RefusedByRule& refused() const { return refused_; }
  [[nodiscard]] const NotRunByAbility& not_run() const { return not_run_; }
  /// Returns one refused plan as an example for each rule that refused any plan.
  [[nodiscard]] const std::map<plan::PlanLegalityRule, plan::Plan>& example_plan_per_broken_rule()
      const {
    return examples_;
  }

 private:
  /// Cache key of a `DataParallelChoiceTable`: everything on which the legal sharding groups and
  /// algorithms of a combination of degrees depend.
  using DataKey = std::tuple<plan::StridedRanks, plan::StridedRanks, std::int64_t, std::int64_t,
                             std::int64_t, plan::DegreeSet, plan::ParallelismDegrees>;
  /// Cache key of the rules on blocks: the tensor, context, expert and expert-tensor degrees;
  /// pipeline, data and expert-data degrees, as far as blocks depend on them; the order of ranks.
  using BlockKey =
      std::tuple<std::array<std::int64_t, 4>, std::array<std::int64_t, 3>, plan::RankOrder>;
  /// Cache key of block choices: the rules that combinations break, and the degrees of `BlockKey`,
  /// as far as block choices depend on them.
  using BlockTableKey = std::pair<BrokenBlockRules, std::array<std::int64_t, 7>>;
  /// The block choices of a grid of ranks that give up no overlap needlessly, given the lines of
  /// the framework's rule file that the grid's plans can make apply.
  struct RunningBlocks {
    std::vector<ModelBlockChoice> choices;
    std::int64_t without_parameters = 0;
  };
  using StageKey = std::tuple<std::int64_t, std::int64_t, plan::DegreeSet>;

  void add_degrees(const plan::ParallelismDegrees& parallel);
  void add_experts(const plan::ParallelismDegrees& parallel);
  void add_grid(const plan::Plan& plan, bool repeated);
  void keep_running(RankGridChoice& grid, const BlockChoiceTable& blocks);
  [[nodiscard]] std::int64_t legal_plans(const RankGridChoice& grid) const;
  void count_refused_search_points(plan::PlanLegalityRule rule, std::int64_t points,
                                   const plan::Plan& example);
  void count_refused_search_points(const RefusedByRule& counts, std::int64_t each,
                                   const plan::Plan& example);
  void refuse_offloads(const DataParallelChoiceTable& data, std::int64_t each,
                       const plan::Plan& legal);
  void leave(plan::FrameworkProperty ability, std::int64_t points);
  void leave(const NotRunByAbility& counts, std::int64_t each);
  /// Returns the ability because of which the framework does not run a plan's degrees and rank
  /// order; nullopt if it runs them.
  [[nodiscard]] std::optional<plan::FrameworkProperty> unsupported_grid_property(
      const plan::Plan& plan) const;
  /// Counts points of the space (combinations of values) as illegal: `each` points for every
  /// recomputation that is illegal, under the rule that it breaks.
  void count_refused_search_points(const RecomputationsByLegality& recomputations,
                                   std::int64_t each, plan::Plan example);
  /// Returns the set of parallelism degrees above 1, on which the framework's abilities depend;
  /// empty without a framework.
  [[nodiscard]] plan::DegreeSet degree_set_above_one(const plan::Plan& plan) const;
  /// Returns the block choices (overlap, algorithms, ...) for the degrees and rank order of the
  /// plan `grid`; its other choices are not read.
  const BlockChoiceTable& blocks(const plan::Plan& grid);
  const StageChoiceTable& stages(const plan::Plan& legal);
  const DataParallelChoiceTable& data(const plan::Plan& legal);

  const plan::Job& job_;
  const SearchSpaceDimensions& space_;
  /// Words of the framework's rule file, such as features of a model, that apply to the job's
  /// model.
  plan::WordSet model_words_;
  std::map<BlockKey, const BlockChoiceTable*> blocks_;
  std::map<BlockTableKey, BlockChoiceTable> block_tables_;
  /// For a table of block choices and the lines of the framework's rule file (as bits) that apply:
  /// the choices that give up no overlap needlessly.
  std::map<std::pair<const BlockChoiceTable*, std::uint64_t>, RunningBlocks> running_blocks_;
  PipelineStageChoiceLists stage_lists_;
  std::map<StageKey, StageChoiceTable> stages_;
  DataParallelChoiceLists lists_;
  std::map<DataKey, DataParallelChoiceTable> data_;
  std::vector<RankGridChoice> grids_;
  std::int64_t total_ = 0;
  std::int64_t legal_ = 0;
  std::int64_t points_ = 0;
  RefusedByRule refused_{};
  NotRunByAbility not_run_{};
  std::map<plan::PlanLegalityRule, plan::Plan> examples_;
  // Number of points of the product for one grid: block choices, then stage choices and
  // recomputations.
  std::int64_t block_points_ = 1;
  std::int64_t stage_points_ = 1;
  std::int64_t recomputes_ = 1;
  /// Number of combinations of data-parallel sharding, group sizes and algorithms.
  std::int64_t group_points_ = 1;
  std::int64_t types_ = 1;  ///< Number of types in which gradients may be accumulated.
  std::int64_t buckets_ = 1;
  std::int64_t offloads_ = 1;
  /// Lines of the framework's rule file that the job alone, without any plan, breaks or satisfies;
  /// computed at the first legal combination of degrees, nullopt before.
  std::optional<plan::FrameworkSupport::FrameworkPropertyCoupling> joint_of_job_;
  /// True if the sharding groups that the framework runs depend on the parallelism degrees of the
  /// plan.
  bool groups_ask_degrees_ = false;
};

}  // namespace stepwright::tune

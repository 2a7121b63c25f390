#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <vector>

#include "stepwright/plan/grid.h"
#include "stepwright/tune/block_choices.h"
#include "stepwright/tune/data_choices.h"
#include "stepwright/tune/stage_choices.h"

namespace stepwright::tune {

/// A rank grid with at least one legal plan.
struct GridChoice {
  plan::Parallel parallel;
  plan::RankOrder order;  ///< Rank order in canonical form.
  std::vector<BlockChoice> blocks;
  std::int64_t blocks_without_parameters = 0;
  const StageTable* stages = nullptr;
  const DataTable* data = nullptr;
  /// The narrowest type in which the search lets gradients add up. Blocks are priced in it, so that
  /// none is priced above what it takes in another type.
  DType accumulate{};
  plan::FrameworkLaw::AbilityCoupling joint;

  /// True if the job's framework runs the block together with the lines of a stage choice and of a
  /// sharding, and the block gives up no overlap needlessly.
  [[nodiscard]] bool runs(const BlockChoice& block,
                          const plan::FrameworkLaw::AbilityCoupling& stage,
                          const plan::FrameworkLaw::AbilityCoupling& states) const {
    const plan::FrameworkLaw::AbilityCoupling all = joint | block.joint | stage | states;
    return all.runs() && !block.wastes_overlap(all.holds);
  }
  /// True if the framework runs a block and a stage choice with at least one sharding, as far as
  /// their own lines decide.
  [[nodiscard]] bool runs(const BlockChoice& block, const StageChoice& stage) const {
    return (joint | block.joint | stage.joint).runs() &&
           !block.wastes_overlap(joint.holds | block.joint.holds | stage.joint.holds | data->holds);
  }

  /// Returns the number of legal plans of one block choice with one schedule.
  [[nodiscard]] std::int64_t sharded(const BlockChoice& choice) const {
    return choice.first_without_parameters ? std::ssize(data->choices) : data->gathering;
  }
};

/// Returns a plan of the grid that is legal as far as the grid and a legal block choice decide.
plan::Plan grid_plan(const plan::Job& job, const plan::Parallel& parallel,
                     const plan::RankOrder& order);

/// Counts the legal plans of a space, and the refused ones by reason, from the product structure of
/// the space: no plan is visited.
class Enumeration {
 public:
  Enumeration(const plan::Job& job, const SpaceDimensions& space);

  [[nodiscard]] const std::vector<GridChoice>& grids() const { return grids_; }
  [[nodiscard]] std::int64_t total() const { return total_; }
  [[nodiscard]] std::int64_t legal() const { return legal_; }
  [[nodiscard]] std::int64_t duplicates() const { return points_ - legal_; }
  [[nodiscard]] const RuleCounts& refused() const { return refused_; }
  [[nodiscard]] const AbilityCounts& not_run() const { return not_run_; }
  /// One refused plan for each rule that refused any plan.
  [[nodiscard]] const std::map<plan::Rule, plan::Plan>& examples() const { return examples_; }

 private:
  /// Key of a `DataTable`: everything on which the legal group sizes and algorithms of a grid
  /// depend.
  using DataKey = std::tuple<plan::Extents, plan::Extents, std::int64_t, std::int64_t, std::int64_t,
                             plan::DegreeSet, plan::Parallel>;
  /// The degrees on which blocks depend; the pipeline, data and expert-data degrees as far as
  /// blocks depend on them; the order of ranks.
  using BlockKey =
      std::tuple<std::array<std::int64_t, 4>, std::array<std::int64_t, 3>, plan::RankOrder>;
  using StageKey = std::tuple<std::int64_t, std::int64_t, plan::DegreeSet>;

  void add_degrees(const plan::Parallel& parallel);
  void add_experts(const plan::Parallel& parallel);
  void add_grid(const plan::Plan& plan, bool repeated);
  void keep_running(GridChoice& grid);
  [[nodiscard]] std::int64_t legal_plans(const GridChoice& grid) const;
  void refuse(plan::Rule rule, std::int64_t points, const plan::Plan& example);
  void refuse(const RuleCounts& counts, std::int64_t each, const plan::Plan& example);
  void refuse_offloads(const DataTable& data, std::int64_t each, const plan::Plan& legal);
  void leave(plan::Ability ability, std::int64_t points);
  void leave(const AbilityCounts& counts, std::int64_t each);
  /// Returns the ability because of which the framework does not run a rank grid; nullopt if it
  /// runs it.
  [[nodiscard]] std::optional<plan::Ability> grid_not_run(const plan::Plan& plan) const;
  /// Counts the points that the given recomputations refuse; `each` points for one of them.
  void refuse(const Recomputations& recomputations, std::int64_t each, plan::Plan example);
  /// Returns the degrees on which the framework's abilities depend; empty without a framework.
  [[nodiscard]] plan::DegreeSet degrees(const plan::Plan& plan) const;
  /// Returns the block choices of a grid; `grid`: a plan with its degrees and order only.
  const BlockTable& blocks(const plan::Plan& grid);
  const StageTable& stages(const plan::Plan& legal);
  const DataTable& data(const plan::Plan& legal);

  const plan::Job& job_;
  const SpaceDimensions& space_;
  plan::WordSet model_words_;  ///< Words of the framework's rules that the job's model uses.
  std::map<BlockKey, BlockTable> blocks_;
  std::map<StageKey, StageTable> stages_;
  DataLists lists_;
  std::map<DataKey, DataTable> data_;
  std::vector<GridChoice> grids_;
  std::int64_t total_ = 0;
  std::int64_t legal_ = 0;
  std::int64_t points_ = 0;
  RuleCounts refused_{};
  AbilityCounts not_run_{};
  std::map<plan::Rule, plan::Plan> examples_;
  // Number of points of the product for one grid: block choices, then stage choices and
  // recomputations.
  std::int64_t block_points_ = 1;
  std::int64_t stage_points_ = 1;
  std::int64_t recomputes_ = 1;
  std::int64_t group_points_ = 1;  ///< Number of group sizes times algorithms of data parallelism.
  std::int64_t types_ = 1;         ///< Number of accumulation types.
  std::int64_t buckets_ = 1;
  std::int64_t offloads_ = 1;
  /// Framework lines that the job itself breaks or makes hold; nullopt before the first grid.
  std::optional<plan::FrameworkLaw::AbilityCoupling> joint_of_job_;
  /// True if the groups that the framework runs depend on all degrees.
  bool groups_ask_degrees_ = false;
};

}  // namespace stepwright::tune

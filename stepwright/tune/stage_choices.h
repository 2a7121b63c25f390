#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "stepwright/tune/choices.h"

namespace stepwright::tune {

/// A schedule, with a recomputation and a split of the layers into chunks.
struct StageChoice {
  schedule::Schedule schedule;
  plan::Recompute recompute;
  std::vector<std::int64_t> layers;
  /// True if it stands for two choices: even layers, and layers as `balanced_split` deals them
  /// out.
  bool balances = false;
  /// True for the balanced one of these two choices, which counts leave out.
  bool balanced = false;
  plan::FrameworkLaw::AbilityCoupling joint;
};

/// The recomputations that the space lists, sorted by whether the pipelines of a grid may use them.
struct Recomputations {
  std::vector<plan::Recompute> legal;  ///< Legal recomputations that the framework runs.
  /// Illegal recomputations that the framework runs, each with the rule that it breaks.
  std::vector<std::pair<plan::Rule, plan::Recompute>> refused;
  std::int64_t not_run = 0;
};

struct StageTable {
  Recomputations recomputations;
  std::map<std::int64_t, std::vector<StageChoice>> by_micro_batch;
  /// By micro-batch: for each schedule and split into layers, the choice that recomputes least.
  std::map<std::int64_t, std::vector<StageChoice>> least_work;
  std::int64_t choices = 0;  ///< Number of choices over all micro-batches.
  std::uint64_t holds = 0;   ///< Framework lines that any choice makes hold.
  /// Number of choices by the framework lines that they break or make hold.
  std::map<plan::FrameworkLaw::AbilityCoupling, std::int64_t> joints;
  std::int64_t points = 0;  ///< Number of points of the product, with every recomputation.
  RuleCounts refused{};
  AbilityCounts not_run{};
};

/// Lists the stage choices of a grid. `legal`: a plan of the grid that breaks no rule.
StageTable stage_choice_table(const plan::Job& job, const SpaceDimensions& space,
                              const plan::Plan& legal);

/// True if the search tries a balanced split of layers beside a plan's even one: where the job
/// lists no splits and its framework runs any split.
bool balances(const plan::Job& job, const SpaceDimensions& space, const plan::Plan& plan);

/// Writes a stage choice into a plan that already has its block choice.
void apply(const StageChoice& choice, plan::Plan& plan);

}  // namespace stepwright::tune

#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "stepwright/tune/choices.h"

namespace stepwright {

/// Schedule and recomputation.
struct StageChoice {
  Schedule schedule;
  Recompute recompute;
  std::vector<std::int64_t> layers;
  bool balances =
      false;  ///< It stands for two: layers even, and as `balanced_split` deals them out.
  bool balanced = false;  ///< It is the second of these, which the counts leave out.
  FrameworkLaw::Joint joint;
};

/// What of the listed recomputations the pipelines of a grid may choose.
struct Recomputations {
  std::vector<Recompute> legal;                     ///< And run by the job's framework.
  std::vector<std::pair<Rule, Recompute>> refused;  ///< Of those that run.
  std::int64_t not_run = 0;
};

struct StageTable {
  Recomputations recomputations;
  std::map<std::int64_t, std::vector<StageChoice>> by_micro_batch;
  /// The choice that recomputes least of each schedule and split into layers.
  std::map<std::int64_t, std::vector<StageChoice>> least_work;
  std::int64_t choices = 0;  ///< Over all micro-batches.
  std::uint64_t holds = 0;   ///< What any of them says to the lines of the framework.
  std::map<FrameworkLaw::Joint, std::int64_t> joints;  ///< How many say what.
  std::int64_t points = 0;                             ///< With any recomputation.
  RuleCounts refused{};
  AbilityCounts not_run{};
};

/// `legal` is a plan of the grid that breaks no rule.
StageTable stage_table(const Job& job, const Dimensions& space, const Plan& legal);

/// Whether the search tries a balanced split beside a plan's even one: where the job lists no
/// splits and its framework runs any.
bool balances(const Job& job, const Dimensions& space, const Plan& plan);

/// Puts a choice into a plan that has its choices of blocks.
void apply(const StageChoice& choice, Plan& plan);

}  // namespace stepwright

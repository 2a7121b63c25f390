#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "stepwright/tune/choices.h"

namespace stepwright::tune {

/// One schedule with one recomputation.
struct StageChoice {
  schedule::Schedule schedule;
  plan::Recompute recompute;
  std::vector<std::int64_t> layers;
  bool balances =
      false;  ///< It stands for two: layers even, and as `balanced_split` deals them out.
  bool balanced = false;  ///< It is the second of these, which the counts leave out.
  plan::FrameworkLaw::Joint joint;
};

/// The listed recomputations, by whether the pipelines of a grid may choose them.
struct Recomputations {
  std::vector<plan::Recompute> legal;                           ///< Legal ones that run.
  std::vector<std::pair<plan::Rule, plan::Recompute>> refused;  ///< Illegal ones that run.
  std::int64_t not_run = 0;
};

struct StageTable {
  Recomputations recomputations;
  std::map<std::int64_t, std::vector<StageChoice>> by_micro_batch;
  /// The choice that recomputes least of each schedule and split into layers.
  std::map<std::int64_t, std::vector<StageChoice>> least_work;
  std::int64_t choices = 0;                                  ///< Number over all micro-batches.
  std::uint64_t holds = 0;                                   ///< Lines that any of them makes hold.
  std::map<plan::FrameworkLaw::Joint, std::int64_t> joints;  ///< How many say what.
  std::int64_t points = 0;                                   ///< Points with any recomputation.
  RuleCounts refused{};
  AbilityCounts not_run{};
};

/// `legal` is a plan of the grid that breaks no rule.
StageTable stage_table(const plan::Job& job, const Dimensions& space, const plan::Plan& legal);

/// Whether the search tries a balanced split beside a plan's even one: where the job lists no
/// splits and its framework runs any.
bool balances(const plan::Job& job, const Dimensions& space, const plan::Plan& plan);

/// Puts a choice into a plan that has its choices of blocks.
void apply(const StageChoice& choice, plan::Plan& plan);

}  // namespace stepwright::tune

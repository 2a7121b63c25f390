#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "stepwright/plan/legality.h"
#include "stepwright/tune/dimensions.h"

namespace stepwright {

inline constexpr std::size_t kRules = std::size(kRuleNames);
using RuleCounts = std::array<std::int64_t, kRules>;
/// Points that the job's framework does not run, by the first ability in which it does not.
using AbilityCounts = std::array<std::int64_t, kAbilities>;

// A rank grid (degrees and rank order) leaves three kinds of choices. Legality of each depends on
// the grid alone, not on the other two, so they are listed once and multiplied. All lists hold
// canonical choices: no plan appears twice.

/// The choices on which the blocks of a plan depend beside the grid and the micro-batch.
struct BlockChoice {
  bool sequence_parallel = false;
  TensorInput tensor_input{};
  ContextKind context_kind{};
  Overlap overlap;
  Collectives collectives;  ///< But for data.
  OffloadModules offloaded;
  /// Whether it is the first of choices that differ in the overlap of parameters alone: the only
  /// one where sharding has no parameters to gather.
  bool first_without_parameters = true;
  FrameworkLaw::Joint joint;
  /// Of a free overlap, for each kind that it gives up though its degrees allow it, the lines that
  /// ask for that: where none of them holds another choice is better.
  std::vector<std::uint64_t> spares;

  /// Whether it gives up overlap for nothing where these lines hold.
  [[nodiscard]] bool wastes(std::uint64_t holds) const {
    for (const std::uint64_t lines : spares) {
      if ((lines & holds) == 0) return true;
    }
    return false;
  }
};

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

/// Sharding and how its messages are sent.
struct DataChoice {
  Sharding sharding;
  DType accumulate{};
  Algorithm algorithm{};
  std::int64_t gradient_bucket = 0;
  std::int64_t parameter_bucket = 0;
  Offload offload;
  FrameworkLaw::Joint joint;

  /// Whether the overlap and the buckets of parameters mean anything.
  [[nodiscard]] bool gathers() const {
    return sharding.parameters != Spread::kNone || sharding.optimizer != Spread::kNone;
  }
  auto operator<=>(const DataChoice&) const = default;
};

struct BlockTable {
  std::vector<BlockChoice> choices;
  std::int64_t without_parameters = 0;  ///< How many are the first without parameters.
  std::int64_t points = 0;              ///< Legal points of the product that run.
  RuleCounts refused{};
  AbilityCounts not_run{};
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

/// Lists of choices, each held once: those of many grids are alike.
using DataLists = std::set<std::vector<DataChoice>>;

struct DataTable {
  std::span<const DataChoice> choices;  ///< One of the lists.
  std::uint64_t holds = 0;              ///< What any of them says to the lines of the framework.
  /// How many say what, and gather parameters or do not.
  std::map<std::pair<FrameworkLaw::Joint, bool>, std::int64_t> joints;
  std::int64_t gathering = 0;  ///< How many of them gather parameters.
  std::int64_t points = 0;     ///< Legal ones of states, groups and algorithms.
  RuleCounts refused{};        ///< Of the same.
  AbilityCounts not_run{};     ///< Of the same.
  /// Points of the same and of what may be left to the host, by what refuses that.
  RuleCounts refused_offloads{};
  std::int64_t not_run_offloads = 0;  ///< The same of what the framework leaves there.
};

/// A plan of the grid that is legal as far as the grid and a legal block choice decide.
Plan grid_plan(const Job& job, const Parallel& parallel, const RankOrder& order);

/// Sets `first_without_parameters` of all choices of a table, and returns how many are.
std::int64_t find_first_without_parameters(std::vector<BlockChoice>& choices);

BlockTable block_table(const Job& job, const Dimensions& space, const Plan& grid);
/// `legal` is a plan of the grid that breaks no rule.
StageTable stage_table(const Job& job, const Dimensions& space, const Plan& legal);
DataTable data_table(const Job& job, const Dimensions& space, const Plan& legal, DataLists& lists);

/// Whether the search tries a balanced split beside a plan's even one: where the job lists no
/// splits and its framework runs any.
bool balances(const Job& job, const Dimensions& space, const Plan& plan);

/// Whether another of the blocks gives the same plans with a stage: one that leaves to the host
/// just what is kept where the stage recomputes.
bool repeats(const std::vector<BlockChoice>& blocks, const BlockChoice& block,
             const StageChoice& stage);

/// Puts choices into a plan, those of blocks first.
void apply(const BlockChoice& choice, Plan& plan);
void apply(const StageChoice& choice, Plan& plan);
void apply(const DataChoice& choice, Plan& plan);

}  // namespace stepwright

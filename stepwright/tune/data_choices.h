#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "stepwright/tune/choices.h"

namespace stepwright::tune {

/// Choices of data parallelism: how states are sharded and how its messages are sent.
struct DataChoice {
  plan::Sharding sharding;
  DType accumulate{};
  collective::Algorithm algorithm{};
  std::int64_t gradient_bucket = 0;
  std::int64_t parameter_bucket = 0;
  plan::Offload offload;
  plan::FrameworkLaw::AbilityCoupling joint;

  /// True if parameters are gathered, so that their overlap and buckets matter.
  [[nodiscard]] bool gathers() const {
    return sharding.parameters != plan::Spread::kNone || sharding.optimizer != plan::Spread::kNone;
  }
  auto operator<=>(const DataChoice&) const = default;
};

/// Lists of choices, each stored once, since many grids have equal lists.
using DataLists = std::set<std::vector<DataChoice>>;

struct DataTable {
  std::span<const DataChoice> choices;  ///< One list of `DataLists`.
  std::uint64_t holds = 0;  ///< Framework rule lines that any of the choices makes hold.
  /// Number of choices by the framework lines that they break or make hold, and by whether they
  /// gather parameters.
  std::map<std::pair<plan::FrameworkLaw::AbilityCoupling, bool>, std::int64_t> joints;
  std::int64_t gathering = 0;  ///< Number of choices that gather parameters.
  std::int64_t points = 0;     ///< Legal points of the product of states, groups and algorithms.
  RuleCounts refused{};        ///< Number of illegal points, by the rule that they break.
  /// Number of points that the framework does not run, by the ability that it lacks.
  AbilityCounts not_run{};
  /// Refused points of the product of the states, groups and offloads, by the rule that refuses the
  /// offload.
  RuleCounts refused_offloads{};
  std::int64_t not_run_offloads = 0;  ///< Points with an offload that the framework does not run.
};

/// Returns all offloads of states and parameters that the lists allow, in search order.
std::vector<plan::Offload> offloads_of_states(const plan::OffloadLists& lists);

/// Lists the choices of data parallelism of a grid. `legal`: a plan of the grid that breaks no
/// rule.
DataTable sharding_choice_table(const plan::Job& job, const SpaceDimensions& space,
                                const plan::Plan& legal, DataLists& lists);

/// Writes a data-parallel choice into a plan.
void apply(const DataChoice& choice, plan::Plan& plan);

}  // namespace stepwright::tune

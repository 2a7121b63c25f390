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

/// Sharding and how its messages are sent.
struct DataChoice {
  plan::Sharding sharding;
  DType accumulate{};
  collective::Algorithm algorithm{};
  std::int64_t gradient_bucket = 0;
  std::int64_t parameter_bucket = 0;
  plan::Offload offload;
  plan::FrameworkLaw::Joint joint;

  /// Whether the overlap and the buckets of parameters mean anything.
  [[nodiscard]] bool gathers() const {
    return sharding.parameters != plan::Spread::kNone || sharding.optimizer != plan::Spread::kNone;
  }
  auto operator<=>(const DataChoice&) const = default;
};

/// Lists of choices, each held once: those of many grids are alike.
using DataLists = std::set<std::vector<DataChoice>>;

struct DataTable {
  std::span<const DataChoice> choices;  ///< One of the lists.
  std::uint64_t holds = 0;              ///< Lines that any of them makes hold.
  /// How many say what, and gather parameters or do not.
  std::map<std::pair<plan::FrameworkLaw::Joint, bool>, std::int64_t> joints;
  std::int64_t gathering = 0;  ///< How many of them gather parameters.
  std::int64_t points = 0;     ///< Legal ones of states, groups and algorithms.
  RuleCounts refused{};        ///< Illegal points, by their rule.
  AbilityCounts not_run{};     ///< Points that do not run, by their ability.
  /// Points of the same and of what may be left to the host, by what refuses that.
  RuleCounts refused_offloads{};
  std::int64_t not_run_offloads = 0;  ///< Such points that the framework does not run.
};

/// Returns all offloads of states and parameters that the lists allow, in search order.
std::vector<plan::Offload> offloads_of_states(const plan::OffloadLists& lists);

/// `legal` is a plan of the grid that breaks no rule.
DataTable data_table(const plan::Job& job, const Dimensions& space, const plan::Plan& legal,
                     DataLists& lists);

/// Puts a choice into a plan.
void apply(const DataChoice& choice, plan::Plan& plan);

}  // namespace stepwright::tune

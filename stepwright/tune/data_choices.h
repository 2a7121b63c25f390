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

/// A choice of everything that concerns data parallelism: sharding of states, algorithm and buckets
/// of its messages, accumulation type, and offload of states.
struct DataParallelChoice {
  plan::Sharding sharding;
  DType accumulate{};
  collective::CollectiveAlgorithm algorithm{};
  std::int64_t gradient_bucket = 0;
  std::int64_t parameter_bucket = 0;
  plan::HostOffload offload;
  plan::FrameworkSupport::FrameworkPropertyCoupling joint;

  /// True if sharded parameters or optimizer states make ranks gather parameters, so that the
  /// overlap and buckets of these gathers matter.
  [[nodiscard]] bool needs_parameter_gathers() const {
    return sharding.parameters != plan::StateShardingScope::kNone ||
           sharding.optimizer != plan::StateShardingScope::kNone;
  }
  auto operator<=>(const DataParallelChoice&) const = default;
};

/// Distinct lists of data-parallel choices, each stored once, since many combinations of degrees
/// have equal lists.
using DataParallelChoiceLists = std::set<std::vector<DataParallelChoice>>;

struct DataParallelChoiceTable {
  /// Data-parallel choices (sharding, buckets, offload, ...) that are legal with one combination of
  /// degrees and rank order; the list is stored in `DataParallelChoiceLists`.
  std::span<const DataParallelChoice> choices;
  /// Lines of the framework's rule file, one bit for each, that apply to at least one of the
  /// data-parallel choices.
  std::uint64_t holds = 0;
  /// Number of data-parallel choices, by the lines of the framework's rule file that they break or
  /// make apply, and by whether they gather parameters.
  std::map<std::pair<plan::FrameworkSupport::FrameworkPropertyCoupling, bool>, std::int64_t> joints;
  /// Number of data-parallel choices that make ranks gather sharded parameters.
  std::int64_t gathering = 0;
  /// Number of legal combinations of sharding strategy, group sizes and algorithm.
  std::int64_t points = 0;
  /// Number of illegal combinations of sharding strategy, group sizes and algorithm, by the rule
  /// that they break.
  RefusedByRule refused{};
  /// Number of combinations of sharding strategy, group sizes and algorithm that the framework does
  /// not run, by the ability that it lacks.
  NotRunByAbility not_run{};
  /// Number of combinations of sharding, groups and offload that are illegal because of the
  /// offload, by the rule that they break.
  RefusedByRule refused_offloads{};
  /// Number of combinations of sharding, group sizes and offload that the framework does not run
  /// because of the offload.
  std::int64_t not_run_offloads = 0;
};

/// Returns all combinations of offloading optimizer states and parameters to the host that the
/// job's lists allow, in search order.
std::vector<plan::HostOffload> state_offload_combinations(
    const plan::SearchedOffloadChoices& lists);

/// Lists the data-parallel choices for one combination of degrees and rank order. `legal`: a legal
/// plan with these degrees. `lists` stores the choices.
DataParallelChoiceTable list_data_parallel_choices(const plan::Job& job,
                                                   const SearchSpaceDimensions& space,
                                                   const plan::Plan& legal,
                                                   DataParallelChoiceLists& lists);

/// Writes a data-parallel choice (sharding, algorithm, buckets, offload) into a plan.
void write_choice_into_plan(const DataParallelChoice& choice, plan::Plan& plan);

}  // namespace stepwright::tune

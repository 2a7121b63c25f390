#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "stepwright/cost/cost_model.h"
#include "stepwright/plan/job.h"
#include "stepwright/simulate/price/room.h"

namespace stepwright::study {

/// The plan that a two-level search like Alpa's finds, and what the search cost.
struct AlpaLikeSearchResult {
  plan::Plan plan;
  double step_time_s = 0;  ///< Simulated step time of the plan that was found, in seconds.
  /// Number of candidates whose time was computed: pairs of a run of consecutive layers and an
  /// intra-operator choice.
  std::int64_t stages_profiled = 0;
  std::int64_t plans_priced = 0;
};

/// Searches a plan in two levels as Alpa does (Zheng et al., OSDI 2022, 2201.12023), as a reference
/// for `tune`. Outer level: dynamic programming cuts the layers into stages (equation 2) for every
/// number of stages and micro-batch size. Inner level: all intra-operator choices (tensor and
/// expert size, recomputation, sharding). As in Alpa, no interleaving, context parallelism or
/// hybrid sharding; unlike in Alpa, all stages have equally many devices and the same choice.
/// nullopt: no plan fits.
std::optional<AlpaLikeSearchResult> search_plan_by_alpa_method(
    const plan::Job& job, const cost::CostModel& cost, const simulate::AvailablePlanMemory& room);

/// Cuts layers into `stages` runs of consecutive layers so that the slowest run is as fast as
/// possible. `seconds`: time of each layer; `first_s`, `last_s`: added to the first and last run.
/// Returns the number of layers in each run, at least one. O(stages * layers^2). Requires 1 <=
/// stages <= layers.
std::vector<std::int64_t> cut_layers_into_stages(const std::vector<double>& seconds,
                                                 std::int64_t stages, double first_s,
                                                 double last_s);

}  // namespace stepwright::study

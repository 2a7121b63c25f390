#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "stepwright/cost/cost_model.h"
#include "stepwright/plan/job.h"
#include "stepwright/simulate/price/room.h"

namespace stepwright::study {

/// The result of a two-level search like Alpa's, and its cost.
struct InterOperatorResult {
  plan::Plan plan;
  double step_time_s = 0;  ///< Simulated step time of the plan, in seconds.
  /// Number of priced pairs of consecutive layers and an intra-operator choice.
  std::int64_t stages_profiled = 0;
  std::int64_t plans_priced = 0;
};

/// Searches a plan in two levels as Alpa does (Zheng et al., OSDI 2022, 2201.12023); used only as a
/// reference to compare `tune` with. Outer level: for every number of stages and micro-batch size,
/// dynamic programming cuts the layers into stages so that the sum of the stage times plus
/// (micro-batches - 1) times the slowest is minimal (equation 2). Inner level: every intra-operator
/// choice on a stage's devices is tried (tensor size within a node, expert size, recomputation,
/// data-parallel states replicated or sharded). The resulting plan is priced with its gradient
/// reductions, and the best one that fits is simulated. As in Alpa, the space has no interleaved
/// schedules, context parallelism or hybrid sharding; unlike in Alpa, all stages have equally many
/// devices and the same choice. nullopt: no plan fits.
std::optional<InterOperatorResult> inter_operator_search(const plan::Job& job,
                                                         const cost::CostModel& cost,
                                                         const simulate::Room& room);

/// Cuts layers with the given times into `stages` runs of consecutive layers so that the slowest
/// run is as fast as possible; `first_s` and `last_s` are added to the first and the last run. (The
/// sum over stages is the same for every cut.) Returns the number of layers in each run, at least
/// one. O(stages * layers^2). Requires 1 <= stages <= layers.
std::vector<std::int64_t> cut_layers(const std::vector<double>& seconds, std::int64_t stages,
                                     double first_s, double last_s);

}  // namespace stepwright::study

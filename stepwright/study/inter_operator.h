#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "stepwright/cost/cost_model.h"
#include "stepwright/plan/job.h"
#include "stepwright/simulate/price/room.h"

namespace stepwright::study {

/// The result of a two-level search in the manner of Alpa, and its cost.
struct InterOperatorResult {
  plan::Plan plan;
  double step_time_s = 0;            ///< Simulated step time of the plan.
  std::int64_t stages_profiled = 0;  ///< Pairs of a run of layers and an intra-operator choice.
  std::int64_t plans_priced = 0;
};

/// A two-level search in the manner of Alpa (Zheng et al., OSDI 2022, 2201.12023), a reference to
/// compare `tune` with; nothing else uses it. Outside, for every number of stages and micro-batch
/// size, a dynamic programme cuts the layers into stages so that the sum of stage times plus
/// (micro-batches - 1) times the slowest is least (equation 2); inside, every intra-operator choice
/// on a stage's devices (tensor size within a node, expert size, recomputation, states of data
/// parallelism whole or split) is tried. The cut plan is priced with its gradient reductions, and
/// the best one that fits is simulated. As in Alpa neither interleaved schedules nor context
/// parallelism nor hybrid sharding are in the space; unlike in Alpa all stages have equally many
/// devices and one choice. Nothing when no plan fits.
std::optional<InterOperatorResult> inter_operator_search(const plan::Job& job,
                                                         const cost::CostModel& cost,
                                                         const simulate::Room& room);

/// The cut of layers of these seconds into `stages` runs whose slowest is fastest; `first_s` and
/// `last_s` are added to the first and the last run. (The sum of the stages is the same for every
/// cut.) Layers of each run, every run at least one. O(stages * layers^2). Requires
/// 1 <= stages <= layers.
std::vector<std::int64_t> cut_layers(const std::vector<double>& seconds, std::int64_t stages,
                                     double first_s, double last_s);

}  // namespace stepwright::study

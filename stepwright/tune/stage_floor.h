#pragma once

#include <cstdint>

#include "stepwright/tune/stage_choices.h"
#include "stepwright/tune/work_floor.h"

namespace stepwright::tune {

/// Bounds of a pipeline from the work of one micro-batch through it: of its closed-form price and
/// of its simulated time.
struct StageFloor {
  double price_s = 0;
  double simulated_s = 0;
};

/// The floor of a stage: with m micro-batches no position is done before m times its own work,
/// which begins when a micro-batch has come through a chunk of each position before it and ends
/// when a backward has gone back through them (where the schedule has a closed form; one that is
/// played may fill and drain with less). Of the layers as the choice lists them, or even.
StageFloor stage_floor(const Work& work, const LayerCounts& layers, const StageChoice& choice,
                       std::int64_t pipeline, std::int64_t micro_batches);

/// The floor of the stage with any layers: never above `stage_floor` of a split.
StageFloor any_stage_floor(const Work& work, const LayerCounts& layers, const StageChoice& choice,
                           std::int64_t pipeline, std::int64_t micro_batches);

}  // namespace stepwright::tune

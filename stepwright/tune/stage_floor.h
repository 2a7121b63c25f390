#pragma once

#include <cstdint>

#include "stepwright/tune/stage_choices.h"
#include "stepwright/tune/work_floor.h"

namespace stepwright::tune {

/// Lower bounds of a pipeline, from the work of one micro-batch through it: of its closed-form
/// price and of its simulated time.
struct StageFloor {
  double price_s = 0;
  double simulated_s = 0;
};

/// Returns the floor of a pipeline: with m micro-batches no position is done before m times its own
/// work. That work begins when a micro-batch has come through a chunk of each position before it,
/// and ends when a backward has gone back through them (where the schedule has a closed form; a
/// schedule without one may fill and drain in less time). Layers are as the choice lists them, or
/// even.
StageFloor stage_floor(const Work& work, const LayerCounts& layers, const StageChoice& choice,
                       std::int64_t pipeline, std::int64_t micro_batches);

/// Returns the floor of the pipeline over all splits of the layers: never above `stage_floor` of
/// any split.
StageFloor any_stage_floor(const Work& work, const LayerCounts& layers, const StageChoice& choice,
                           std::int64_t pipeline, std::int64_t micro_batches);

}  // namespace stepwright::tune

#pragma once

#include <cstdint>

#include "stepwright/tune/stage_choices.h"
#include "stepwright/tune/work_lower_bounds.h"

namespace stepwright::tune {

/// Lower bounds, in seconds, of a pipeline's closed-form price and of its simulated time, computed
/// from the work of one micro-batch.
struct PipelineLowerBound {
  double price_s = 0;
  double simulated_s = 0;
};

/// Returns lower bounds of a pipeline's step time. With m micro-batches each pipeline rank takes at
/// least m times its own work, plus the time to fill the pipeline before its first micro-batch and
/// to drain it after its last (only for schedules with a closed form). Layers are split as `choice`
/// lists them, or evenly.
PipelineLowerBound pipeline_lower_bound(const LeastPlanWork& work, const LayerCountsByClass& layers,
                                        const PipelineStageChoice& choice, std::int64_t pipeline,
                                        std::int64_t micro_batches);

/// Returns lower bounds of a pipeline's step time that hold for every split of the layers.
PipelineLowerBound any_layer_split_lower_bound(const LeastPlanWork& work,
                                               const LayerCountsByClass& layers,
                                               const PipelineStageChoice& choice,
                                               std::int64_t pipeline, std::int64_t micro_batches);

}  // namespace stepwright::tune

#pragma once

#include <vector>

#include "stepwright/schedule/turn_play.h"
#include "stepwright/simulate/price/sharding_message_cost.h"

namespace stepwright::simulate {

/// Returns a lower bound of the seconds of a step without the optimizer update, from one pipeline
/// rank: the last of the equal ranks that `stage` describes. It is the longer one of two times,
/// data-parallel messages included: its forwards and backwards one after the other, with fill and
/// drain of the pipeline, and the bound by its total load (`step_time_lower_bound_s`).
double position_time_lower_bound_s(const PipelinePositionCost& stage,
                                   const ShardingMessageCost& data,
                                   const plan::OverlapFlags& overlap, double micro_batches,
                                   const cost::OverlapSlowdownFactors& contention);

/// Returns, for each chunk of a pipeline rank, the least seconds of the parameter gathers and
/// gradient reductions that happen once in a step.
std::vector<schedule::ModelChunkMessageSeconds> min_chunk_message_seconds(
    const PipelinePositionCost& stage, const ShardingMessageCost& data,
    const plan::OverlapFlags& overlap);

}  // namespace stepwright::simulate

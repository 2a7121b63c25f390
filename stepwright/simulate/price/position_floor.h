#pragma once

#include <vector>

#include "stepwright/schedule/turn_play.h"
#include "stepwright/simulate/price/data_cost.h"

namespace stepwright::simulate {

/// Returns a lower bound of the seconds of a step, up to the optimizer update, on the last of the
/// positions of `stage`, with its data-parallel messages: the longer of the chain of its passes
/// (with fill and drain of the pipeline) and of `least_step_s` of its load.
double least_position_s(const StageCost& stage, const DataCost& data, const plan::Overlap& overlap,
                        double micro_batches, const cost::Contention& contention);

/// Returns, for each chunk of a position, the least seconds of the messages that are sent once in a
/// step.
std::vector<schedule::ChunkMessages> chunk_messages(const StageCost& stage, const DataCost& data,
                                                    const plan::Overlap& overlap);

}  // namespace stepwright::simulate

#pragma once

#include <vector>

#include "stepwright/schedule/turn_play.h"
#include "stepwright/simulate/price/data_cost.h"

namespace stepwright::simulate {

/// Least seconds of a step of a position (the last of `stage`) up to its update, with its messages
/// of data parallelism: the longer of the chain of its passes, with fill and drain of the pipeline,
/// and `least_step_s` of its load.
double least_position_s(const StageCost& stage, const DataCost& data, const plan::Overlap& overlap,
                        double micro_batches, const cost::Contention& contention);

/// The least that each chunk of a position has of messages that go once in a step.
std::vector<schedule::ChunkMessages> chunk_messages(const StageCost& stage, const DataCost& data,
                                                    const plan::Overlap& overlap);

}  // namespace stepwright::simulate

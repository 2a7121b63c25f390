#pragma once

#include <vector>

#include "stepwright/collective/rank_writer.h"
#include "stepwright/collective/tiered.h"

namespace stepwright::collective {

/// Writes the reduction of each block at its owner: chunk c of the sum is left at piece
/// `first_output` + c of the output. Returns, for each chunk, the step that completes it.
std::vector<StepRef> write_tiered_reduce(const TieredRingSpec& tiered, std::int32_t rank,
                                         std::int32_t first_output, RankWriter& writer);

/// Scratch pieces that the reduction needs.
std::int32_t tiered_reduce_scratch(const TieredRingSpec& tiered);

}  // namespace stepwright::collective

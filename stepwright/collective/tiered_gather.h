#pragma once

#include <vector>

#include "stepwright/collective/rank_writer.h"
#include "stepwright/collective/tiered.h"

namespace stepwright::collective {

/// Writes the gather of all blocks into the output. `own`: for each chunk, the step that wrote the
/// rank's own block to the output; empty: the block is in the input, and is copied.
void write_tiered_gather(const TieredRingSpec& tiered, std::int32_t rank,
                         const std::vector<StepRef>& own, RankWriter& writer);

}  // namespace stepwright::collective

#pragma once

#include <vector>

#include "stepwright/collective/rank_writer.h"
#include "stepwright/collective/tiered.h"

namespace stepwright::collective {

/// Writes the gathering of all blocks into the output. `own`: per chunk, the step that made the
/// rank's block in the output; empty: the block is the input, and is copied.
void write_tiered_gather(const Tiered& tiered, std::int32_t rank, const std::vector<StepRef>& own,
                         RankWriter& writer);

}  // namespace stepwright::collective

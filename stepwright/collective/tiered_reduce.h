#pragma once

#include <vector>

#include "stepwright/collective/rank_writer.h"
#include "stepwright/collective/tiered.h"

namespace stepwright::collective {

/// Writes the reduction of each block at its owner, which leaves chunk c of it at piece
/// `first_output` + c of the output. Returns, per chunk, the step that did.
std::vector<StepRef> write_tiered_reduce(const Tiered& tiered, std::int32_t rank,
                                         std::int32_t first_output, RankWriter& writer);

/// Pieces of scratch that it needs.
std::int32_t tiered_reduce_scratch(const Tiered& tiered);

}  // namespace stepwright::collective

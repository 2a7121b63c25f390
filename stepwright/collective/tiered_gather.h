#pragma once

#include <vector>

#include "stepwright/collective/rank_writer.h"
#include "stepwright/collective/tiered.h"

namespace stepwright::collective {

/// Writes one rank's steps of a hierarchical all-gather into its schedule. `own`: for each chunk,
/// the step after which this rank's own block is in the output; empty: the block is in the input,
/// and is copied first.
void write_tiered_all_gather(const HierarchicalRingSpec& tiered, std::int32_t rank,
                             const std::vector<CollectiveStepReference>& own,
                             RankCollectiveScheduleWriter& writer);

}  // namespace stepwright::collective

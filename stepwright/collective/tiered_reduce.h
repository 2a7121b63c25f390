#pragma once

#include <vector>

#include "stepwright/collective/rank_writer.h"
#include "stepwright/collective/tiered.h"

namespace stepwright::collective {

/// Writes one rank's steps of a hierarchical reduce-scatter into its schedule. The sum of the
/// rank's chunk c ends up in piece `first_output` + c of the output. Returns, for each chunk, the
/// step that completes its sum.
std::vector<CollectiveStepReference> write_tiered_reduce_scatter(
    const HierarchicalRingSpec& tiered, std::int32_t rank, std::int32_t first_output,
    RankCollectiveScheduleWriter& writer);

/// Returns the pieces of scratch memory that a rank needs for a hierarchical reduce-scatter.
std::int32_t tiered_reduce_scatter_scratch_pieces(const HierarchicalRingSpec& tiered);

}  // namespace stepwright::collective

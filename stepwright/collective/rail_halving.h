#pragma once

#include "stepwright/collective/generate.h"

namespace stepwright {

/// Two levels in turn, for tiers {m, n} with n = 2^k nodes: recursive doubling (all-gather) or
/// halving (reduce-scatter) along the rails, direct messages of a whole rail inside.
///
/// | operation | messages of a rank | sends per rank inside | on its rail |
/// |---|---|---|---|
/// | all-gather, reduce-scatter | log2 n + m-1 | (m-1)/m V | (n-1)/(nm) V |
/// | all-reduce | twice that | 2 (m-1)/m V | 2 (n-1)/(nm) V |
///
/// The least bytes on either level in few messages, for many nodes; the levels wait for each other.
/// Blocks stand rail by rail in scratch, V of it, so that messages are whole runs.
RankSchedule rail_halving(const ScheduleSpec& spec, std::int32_t rank);

/// Pieces of scratch of a rank.
std::int32_t rail_halving_scratch(const ScheduleSpec& spec);

}  // namespace stepwright

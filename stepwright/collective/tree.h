#pragma once

#include "stepwright/collective/generate.h"

namespace stepwright {

/// Binomial trees with root 0 over any number of ranks, the buffer in C chunks:
///
/// | operation | rounds | the root sends | a rank sends at most |
/// |---|---|---|---|
/// | broadcast | ceil(log2 N) | ceil(log2 N) V | ceil(log2 N) V |
/// | reduce | ceil(log2 N) | - | V |
/// | all-reduce (reduce, then broadcast) | 2 ceil(log2 N) | ceil(log2 N) V | (1 + ceil(log2 N)) V |
///
/// The parent of r is r without its lowest bit. In groups of 2^k consecutive ranks, each group is
/// entered once: one message per node and direction. For small buffers. Scratch of a reduce: V.
RankSchedule binomial_tree(const ScheduleSpec& spec, std::int32_t rank);

}  // namespace stepwright

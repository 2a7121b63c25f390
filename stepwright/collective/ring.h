#pragma once

#include "stepwright/collective/generate.h"

namespace stepwright {

/// One ring over all ranks; rank r sends to r + 1 only.
///
/// | operation | steps, C chunks | sends per rank |
/// |---|---|---|
/// | all-gather, reduce-scatter | (N-1) C | (N-1)/N V |
/// | all-reduce | 2 (N-1) C | 2 (N-1)/N V |
///
/// The last rank of a node sends all of that through one NIC. Chunks hide latency behind bytes: a
/// hop costs max(S, S/C + latency) of time instead of S + latency. Scratch of a reduction: 4 S.
Tiered ring_tiers(const ScheduleSpec& spec);

}  // namespace stepwright

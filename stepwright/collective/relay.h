#pragma once

#include "stepwright/collective/generate.h"

namespace stepwright {

/// The hierarchical all-to-all of expert parallelism, for tiers {m, n}: what goes to another group
/// is sent along the rail as one message for the whole group, and the rank there passes it on
/// inside while the next message arrives.
///
/// | per rank | inside | on its rail |
/// |---|---|---|
/// | bytes | (m-1)/m V | (n-1)/n V |
/// | messages | (m-1) n C | (n-1), with C > 1 chunks (n-1) m C |
///
/// The rail's bytes are those of a direct exchange, in (n-1) messages instead of (n-1) m; a row
/// that goes to several ranks of a group may be sent there once. Scratch: (n-1)/n V.
RankSchedule relay_exchange(const ScheduleSpec& spec, std::int32_t rank);

/// Scratch of a rank in pieces.
std::int32_t relay_scratch(const ScheduleSpec& spec);

}  // namespace stepwright

#pragma once

#include <optional>

#include "stepwright/collective/proof.h"

namespace stepwright::collective {

/// Checks the steps of one rank: returns the first that reads a piece before it is written, that
/// accesses a piece in no defined order relative to another step, or whose waits form a circle;
/// nullopt: none does. Uses vector clocks over the rank's channels (Flanagan and Freund 2009,
/// FastTrack). The steps must be well formed (`first_malformed_step`).
std::optional<CollectiveScheduleDefect> first_unordered_step(const CollectiveSchedule& frame,
                                                             const RankCollectiveSchedule& rank);

}  // namespace stepwright::collective

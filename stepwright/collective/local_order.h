#pragma once

#include <optional>

#include "stepwright/collective/proof.h"

namespace stepwright::collective {

/// Returns the first step of a rank that reads a piece before it is written, or that accesses a
/// piece without order relative to another step, given the rank's own channels and waits; or waits
/// that form a circle; nullopt: none. Uses vector clocks over the channels, as race detectors do
/// (Flanagan and Freund 2009, FastTrack). `rank` must not be malformed.
std::optional<ScheduleDefect> first_unordered_step(const CollectiveSchedule& frame,
                                                   const RankSchedule& rank);

}  // namespace stepwright::collective

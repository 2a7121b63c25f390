#pragma once

#include <optional>

#include "stepwright/collective/proof.h"

namespace stepwright::collective {

/// Runs a collective's schedule on symbolic sums (sets of contributing ranks) instead of numbers,
/// to prove it: returns the first deadlock or wrong result; nullopt: there is none. A send lasts
/// until its receive. Each rank's steps must already be proved well formed and ordered.
std::optional<CollectiveScheduleDefect> run_schedule_symbolically(
    const CollectiveSchedule& schedule);

}  // namespace stepwright::collective

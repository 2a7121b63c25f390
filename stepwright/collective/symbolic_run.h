#pragma once

#include <optional>

#include "stepwright/collective/proof.h"

namespace stepwright::collective {

/// Runs a schedule on symbolic sums instead of numbers, and returns the first deadlock or wrong
/// result; nullopt: there is none. A send lasts until its receive. Each rank's steps must already
/// be proved well formed and ordered.
std::optional<CollectiveScheduleDefect> run_schedule_symbolically(
    const CollectiveSchedule& schedule);

}  // namespace stepwright::collective

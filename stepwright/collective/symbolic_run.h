#pragma once

#include <optional>

#include "stepwright/collective/proof.h"

namespace stepwright::collective {

/// Runs a schedule on sets of contributions instead of numbers, and returns the first defect;
/// nullopt: none. A send lasts until its receive. Each rank of `schedule` must be well formed and
/// ordered by itself.
std::optional<ScheduleDefect> run_schedule_symbolically(const CollectiveSchedule& schedule);

}  // namespace stepwright::collective

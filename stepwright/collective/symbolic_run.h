#pragma once

#include <optional>

#include "stepwright/collective/proof.h"

namespace stepwright::collective {

/// Runs a schedule over sets of contributions instead of numbers. A send lasts until its receive.
/// The ranks of `schedule` are well formed and in order by themselves.
std::optional<Defect> run_symbols(const CollectiveSchedule& schedule);

}  // namespace stepwright::collective

#pragma once

#include <string>

#include "stepwright/tune/tune.h"

namespace stepwright::tune {

/// Returns one line on why `other` is slower than the winner: by how much, the term of the time
/// breakdown that grew most, with both values, and the choices that differ. Empty if both are the
/// same plan.
std::string reason_plan_is_slower(const TunedPlan& winner, const TunedPlan& other);

}  // namespace stepwright::tune

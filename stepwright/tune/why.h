#pragma once

#include <string>

#include "stepwright/tune/tune.h"

namespace stepwright::tune {

/// Says in one line why the winner is faster: by how much, the term of the breakdown that grew most
/// with its values in both plans, and the choices that differ. Empty when both are the same plan.
std::string slower_plan_reason(const TunedPlan& winner, const TunedPlan& other);

}  // namespace stepwright::tune

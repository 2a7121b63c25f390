#pragma once

#include <string>

#include "stepwright/tune/tune.h"

namespace stepwright::tune {

/// Why the winner is faster, in one line: how much, the term of the breakdown that grew most, what
/// it was and is, and the choices that differ. Empty when both are the same plan.
std::string why_lost(const TunedPlan& winner, const TunedPlan& other);

}  // namespace stepwright::tune

#pragma once

#include <array>
#include <string>

#include "stepwright/tune/tune.h"

namespace stepwright {

/// The terms of a breakdown in a fixed order: compute, bubble, optimizer, then exposed tensor,
/// context, expert, pipeline and data communication.
std::array<double, 8> breakdown_terms(const Breakdown& breakdown);

/// Why the winner is faster, in one sentence: the term of the breakdown that grew most, what it was
/// and is, and the choices that differ. Empty when both are the same plan.
std::string why_lost(const TunedPlan& winner, const TunedPlan& other);

}  // namespace stepwright

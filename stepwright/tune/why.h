#pragma once

#include <array>
#include <string>

#include "stepwright/tune/tune.h"

namespace stepwright {

/// What the terms of a breakdown are called, in the order of `breakdown_terms`.
inline constexpr std::array<const char*, 8> kTermNames = {"computation",
                                                          "pipeline bubble",
                                                          "optimizer",
                                                          "exposed tensor communication",
                                                          "exposed context communication",
                                                          "exposed expert communication",
                                                          "exposed pipeline communication",
                                                          "exposed data-parallel communication"};

/// The terms of a breakdown in a fixed order: compute, bubble, optimizer, then exposed tensor,
/// context, expert, pipeline and data communication.
std::array<double, 8> breakdown_terms(const Breakdown& breakdown);

/// Why the winner is faster, in one sentence: the term of the breakdown that grew most, what it was
/// and is, and the choices that differ. Empty when both are the same plan.
std::string why_lost(const TunedPlan& winner, const TunedPlan& other);

}  // namespace stepwright

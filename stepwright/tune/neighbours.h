#pragma once

#include <vector>

#include "stepwright/tune/dimensions.h"

namespace stepwright::tune {

/// Whether a canonical plan of the job's devices is a point of the space.
bool contains(const plan::Job& job, const Dimensions& space, const plan::Plan& plan);

/// A canonical plan with the first value of each list of the space that does not hold its own;
/// degrees stay. It may be illegal.
plan::Plan moved_into(const plan::Job& job, const Dimensions& space, plan::Plan plan);

/// The legal plans of the space that differ from a plan of it in one choice, canonical, each once,
/// in no particular order. A choice that others have to follow brings them along: data follows the
/// other degrees, and what then no longer divides is set anew.
std::vector<plan::Plan> neighbours(const plan::Job& job, const Dimensions& space,
                                   const plan::Plan& plan);

}  // namespace stepwright::tune

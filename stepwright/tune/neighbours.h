#pragma once

#include <vector>

#include "stepwright/tune/dimensions.h"

namespace stepwright::tune {

/// True if a canonical plan of the job's devices is a point of the space.
bool contains(const plan::Job& job, const SpaceDimensions& space, const plan::Plan& plan);

/// Returns a canonical plan, changed so that the space contains its choices: a value that is not in
/// its list becomes the list's first value; degrees stay. The result may be illegal.
plan::Plan move_into_space(const plan::Job& job, const SpaceDimensions& space, plan::Plan plan);

/// Returns the legal plans of the space that differ in one choice from `plan` (itself in the
/// space): canonical, each once, in no particular order. Choices that depend on the changed one
/// follow: the data degree follows the other degrees, and choices that no longer divide are set
/// anew.
std::vector<plan::Plan> neighbours(const plan::Job& job, const SpaceDimensions& space,
                                   const plan::Plan& plan);

}  // namespace stepwright::tune

#pragma once

#include <string>

#include "stepwright/simulate/timeline/simulation.h"

namespace stepwright::cli {

/// Returns a table with the time of each term of a step and its share of the step, computation also
/// by kind; terms of zero are left out.
std::string breakdown_text(const simulate::Breakdown& breakdown);

/// Returns a table of the time of each term before and after a change, with the difference, and a
/// last row for the whole step.
std::string difference_text(const simulate::Breakdown& before, const simulate::Breakdown& after);

}  // namespace stepwright::cli

#pragma once

#include <string>

#include "stepwright/simulate/timeline/simulation.h"

namespace stepwright {

/// A table of term, time and share of the step, computation by kind too; terms of zero are left
/// out.
std::string breakdown_text(const Breakdown& breakdown);

/// A table of both and the difference, term by term and in all.
std::string difference_text(const Breakdown& before, const Breakdown& after);

}  // namespace stepwright

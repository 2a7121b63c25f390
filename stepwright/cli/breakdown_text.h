#pragma once

#include <string>

#include "stepwright/simulate/timeline/simulation.h"

namespace stepwright::cli {

/// A table of term, time and share of the step, computation by kind too; terms of zero are left
/// out.
std::string breakdown_text(const simulate::Breakdown& breakdown);

/// A table of both and the difference, term by term and in all.
std::string difference_text(const simulate::Breakdown& before, const simulate::Breakdown& after);

}  // namespace stepwright::cli

#pragma once

#include <string>

#include "stepwright/simulate/timeline/simulation.h"

namespace stepwright::cli {

/// Returns a table of where the time of a step goes: each term (computation, exposed messages,
/// bubble, ...) with its time and share. Computation is also listed by kind; terms of zero are left
/// out.
std::string step_time_breakdown_text(const simulate::StageTimeBreakdown& breakdown);

/// Returns a table of where the time of a step goes before and after a change of the plan, with the
/// difference of each term and a last row for the whole step.
std::string step_time_difference_text(const simulate::StageTimeBreakdown& before,
                                      const simulate::StageTimeBreakdown& after);

}  // namespace stepwright::cli

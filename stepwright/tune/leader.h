#pragma once

#include <cstddef>

#include "stepwright/tune/tune.h"

namespace stepwright::tune {

/// Moves a simulated plan to the front of the result, so that the answer describes it. `place`:
/// index of the plan in `simulated`, where all plans must fit; `top`: number of plans to list.
void move_plan_to_first_place(TuneResult& result, std::size_t place, std::size_t top);

}  // namespace stepwright::tune

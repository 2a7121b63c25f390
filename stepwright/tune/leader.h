#pragma once

#include <cstddef>

#include "stepwright/tune/tune.h"

namespace stepwright::tune {

/// Moves a simulated plan to the front, so that the answer describes it. `place`: its index in
/// `simulated`, where all plans fit; `top`: how many plans to list.
void promote_plan(TuneResult& result, std::size_t place, std::size_t top);

}  // namespace stepwright::tune

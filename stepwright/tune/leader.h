#pragma once

#include <cstddef>

#include "stepwright/tune/tune.h"

namespace stepwright::tune {

/// Puts a simulated plan first: the answer is then about it. `place` is among `simulated`, where
/// all fit; `top` are the plans to list.
void lead_with(TuneResult& result, std::size_t place, std::size_t top);

}  // namespace stepwright::tune

#pragma once

#include <string>

#include "stepwright/tune/tune.h"

namespace stepwright::tune {

/// By how much the smallest plan of a space in which none fits misses.
std::string misfit_note(const plan::Job& job, const TunedPlan& smallest);
/// Returns the note's text for an error, with what fills the memory.
std::string misfit_text(const TunedPlan& smallest);

}  // namespace stepwright::tune

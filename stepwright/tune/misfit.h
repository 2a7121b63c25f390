#pragma once

#include <string>

#include "stepwright/tune/tune.h"

namespace stepwright::tune {

/// Returns a note on how many bytes the smallest plan lacks, in a space in which no plan fits.
std::string misfit_note(const plan::Job& job, const TunedPlan& smallest);
/// Returns the text of `misfit_note` for an error message, with the part that fills the memory.
std::string misfit_text(const TunedPlan& smallest);

}  // namespace stepwright::tune

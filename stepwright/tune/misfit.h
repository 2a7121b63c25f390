#pragma once

#include <string>

#include "stepwright/tune/tune.h"

namespace stepwright::tune {

/// Returns a note for users on how many bytes of memory the smallest plan lacks, if no plan of the
/// space fits.
std::string memory_shortage_note(const plan::Job& job, const TunedPlan& smallest);
/// Returns the sentence of an error message on how many bytes the smallest plan lacks, and which
/// part fills the memory.
std::string memory_shortage_error_text(const TunedPlan& smallest);

}  // namespace stepwright::tune

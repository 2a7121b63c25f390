#pragma once

#include <string>

#include "stepwright/phases/pools.h"

namespace stepwright::cli {

/// Returns the text of `stepwright phases`: devices, step, memory, a table of the phases, and the
/// first notes (all notes with `verbose`).
std::string phased_step_text(const phases::PhasedStep& step, bool verbose);

/// Returns the table of ways to split a job's devices between phases; empty if there is only one.
std::string splits_text(const phases::PoolSplits& splits);

}  // namespace stepwright::cli

#pragma once

#include <string>

#include "stepwright/phases/pools.h"

namespace stepwright::cli {

/// The text of `stepwright phases`: devices, step, memory, a table of the phases, and notes, all of
/// them with `verbose`.
std::string phased_step_text(const phases::PhasedStep& step, bool verbose);

/// The table of the splits of a job's devices; empty where there is no choice.
std::string splits_text(const phases::PoolSplits& splits);

}  // namespace stepwright::cli

#pragma once

#include <string>

#include "stepwright/phases/pools.h"

namespace stepwright::cli {

/// Returns the text of `stepwright phases`, for steps of several phases (reinforcement learning):
/// devices, step time, memory, a table of the phases, and the first notes (`verbose`: all notes).
std::string phased_step_text(const phases::PhasedStep& step, bool verbose);

/// Returns a table of the ways to divide a job's devices between the phases of its step; empty if
/// there is only one way.
std::string device_splits_table(const phases::DevicePoolSplits& splits);

}  // namespace stepwright::cli

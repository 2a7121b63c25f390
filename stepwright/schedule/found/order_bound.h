#pragma once

#include "stepwright/schedule/found/list_scheduler.h"

namespace stepwright::schedule {

/// No order of the pipeline's parts is shorter. A position has its work, every backward in the form
/// that takes less; it begins after the first forwards before it, does no more forwards than it may
/// hold before its first backward can come, and after its last one come those of the positions
/// before it, beside which it has no more than the weight gradients of backwards that it cut.
double least_makespan_s(const UnevenPipeline& pipeline);

}  // namespace stepwright::schedule

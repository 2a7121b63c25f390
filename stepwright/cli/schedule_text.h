#pragma once

#include <string>
#include <vector>

#include "stepwright/study/schedules.h"

namespace stepwright::cli {

/// Returns a table of simulated pipeline schedules, then a drawing of each: a line for each stage,
/// time from left to right.
std::string simulated_schedules_text(const std::vector<study::PipelineScheduleSimulation>& plays);

}  // namespace stepwright::cli

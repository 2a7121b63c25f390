#pragma once

#include <string>
#include <vector>

#include "stepwright/study/schedules.h"

namespace stepwright::cli {

/// A table of all schedules, then each one drawn: a line for each stage, time from left to right.
std::string schedules_text(const std::vector<study::SchedulePlay>& plays);

}  // namespace stepwright::cli

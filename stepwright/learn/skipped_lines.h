#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "stepwright/learn/calibration.h"

namespace stepwright::learn {

/// Returns one line, "BEGIN LINE: REASON", for each of the first skipped rows, and how many more
/// there are.
std::string skipped_lines(const std::vector<SkippedRun>& skipped, std::string_view begin);

}  // namespace stepwright::learn

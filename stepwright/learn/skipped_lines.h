#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "stepwright/learn/calibration.h"

namespace stepwright::learn {

/// Returns a text that lists skipped rows, "BEGIN LINE: REASON" each (20 at most), and says how
/// many more there are.
std::string skipped_rows_text(const std::vector<SkippedRunRow>& skipped, std::string_view begin);

}  // namespace stepwright::learn

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "stepwright/plan/job.h"

namespace stepwright::framework_files {

/// Returns the lines that a target's file gains when its plan changes, and "without LINE" for each
/// line that it loses and that no line of the same setting replaces. If the target does not write
/// for the plan's framework, the lines are those of the framework's own file. Empty if one of the
/// plans cannot be written.
std::vector<std::string> changed_lines(std::string_view target, const plan::PlannedJob& before,
                                       const plan::PlannedJob& after);

}  // namespace stepwright::framework_files

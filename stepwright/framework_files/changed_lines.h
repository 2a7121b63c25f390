#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "stepwright/plan/job.h"

namespace stepwright::framework_files {

/// The lines that the file of a target gains when its plan changes, and "without LINE" for each
/// that it loses and no line of the same setting replaces; of a target that is not written for the
/// plan's framework the lines of the framework's own file. Empty where neither plan is written.
std::vector<std::string> changed_lines(std::string_view target, const plan::PlannedJob& before,
                                       const plan::PlannedJob& after);

}  // namespace stepwright::framework_files

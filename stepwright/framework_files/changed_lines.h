#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "stepwright/plan/job.h"

namespace stepwright::framework_files {

/// The lines that the file of a target gains when its plan changes, and "without LINE" for each
/// that it loses and no line of the same setting replaces. Empty where the target writes neither
/// plan.
std::vector<std::string> changed_lines(std::string_view target, const plan::PlannedJob& before,
                                       const plan::PlannedJob& after);

}  // namespace stepwright::framework_files

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "stepwright/plan/job.h"

namespace stepwright::framework_files {

/// Returns the lines that a framework's launch file gains when plan `before` becomes `after`, and
/// "without LINE" for each line that it loses. `target`: name of the file's format, as `export
/// --to` accepts it; if it is not for the plan's framework, the framework's own format is used.
/// Empty if a plan cannot be written.
std::vector<std::string> changed_launch_file_lines(std::string_view target,
                                                   const plan::PlannedJob& before,
                                                   const plan::PlannedJob& after);

}  // namespace stepwright::framework_files

#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "stepwright/capture/batch_names.h"

namespace stepwright::capture {

/// Returns the variables that a scheduler gives to a batch script, as the first node sees them:
/// those of `launch_scripts::extent_environment`, and those that name the job. Files of hosts are
/// written into `folder`. An allocation without a number of nodes has one.
std::map<std::string, std::string> job_environment(const Allocation& allocation,
                                                   const std::filesystem::path& folder);

/// Returns the variables that srun adds for its first task.
std::map<std::string, std::string> step_environment(const Allocation& allocation);

}  // namespace stepwright::capture

#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "stepwright/capture/batch_names.h"

namespace stepwright::capture {

/// Returns the variables that a scheduler sets for a batch script on the first node: the result of
/// `launch_scripts::extent_environment`, and variables that identify the job. Writes host files
/// into `folder`. An allocation without a number of nodes has one node.
std::map<std::string, std::string> job_environment(const Allocation& allocation,
                                                   const std::filesystem::path& folder);

/// Returns the variables that srun sets for its first task, in addition to those of the job.
std::map<std::string, std::string> step_environment(const Allocation& allocation);

}  // namespace stepwright::capture

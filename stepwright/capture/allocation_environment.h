#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "stepwright/capture/batch_names.h"

namespace stepwright::capture {

/// Returns the environment variables that a scheduler such as Slurm sets for a batch script on the
/// first node: nodes, tasks and devices, and the job's id and name. Writes host files into
/// `folder`. An allocation without a number of nodes counts as one node.
std::map<std::string, std::string> batch_job_environment(const BatchJobAllocation& allocation,
                                                         const std::filesystem::path& folder);

/// Returns the environment variables that srun sets for the first task of a job, in addition to
/// those of the batch script.
std::map<std::string, std::string> srun_task_environment(const BatchJobAllocation& allocation);

}  // namespace stepwright::capture

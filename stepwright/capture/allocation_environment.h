#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "stepwright/capture/allocation.h"

namespace stepwright::capture {

/// Returns the variables that a scheduler gives to a batch script, as the first node sees them:
/// SLURM_NNODES, SLURM_JOB_NODELIST, PBS_NODEFILE, LSB_HOSTS, NHOSTS and others. Files of hosts are
/// written into `folder`. An allocation without a number of nodes has one. Sources: sbatch(1)
/// "OUTPUT ENVIRONMENT VARIABLES", the PBS Professional user's guide, IBM Spectrum LSF
/// "Environment variables set for job execution", qsub(1) of Grid Engine.
std::map<std::string, std::string> job_environment(const Allocation& allocation,
                                                   const std::filesystem::path& folder);

/// Returns the variables that srun adds for its first task.
std::map<std::string, std::string> step_environment(const Allocation& allocation);

}  // namespace stepwright::capture

#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "stepwright/launch_scripts/batch/allocation.h"

namespace stepwright::launch_scripts {

/// A function that stores the text of a host file (such as PBS_NODEFILE) under a short name and
/// returns the path under which the job sees the file.
using HostFileKeeper = std::function<std::string(std::string_view name, const std::string& lines)>;

/// Returns the variables by which a scheduler tells a batch script the size of its job, as on the
/// first node: SLURM_NNODES, SLURM_JOB_NODELIST, PBS_NODEFILE, LSB_HOSTS, NHOSTS and others.
/// Variables that do not follow from the options are absent. Sources: sbatch(1) "OUTPUT ENVIRONMENT
/// VARIABLES", the PBS Professional user's guide, IBM Spectrum LSF "Environment variables set for
/// job execution", qsub(1) of Grid Engine.
std::map<std::string, std::string> job_size_environment(const BatchJobAllocation& allocation,
                                                        const HostFileKeeper& keep_hosts);

/// Returns the number of tasks (processes) on each node: the stated number, or all tasks divided by
/// the nodes; 0: not stated.
std::int64_t tasks_on_each_node(const BatchJobAllocation& allocation);

/// Returns the name of the environment variable that holds a task's index in a job array:
/// "SLURM_ARRAY_TASK_ID", "PBS_ARRAY_INDEX", "LSB_JOBINDEX" or "SGE_TASK_ID".
std::string_view job_array_index_variable(std::string_view scheduler);

}  // namespace stepwright::launch_scripts

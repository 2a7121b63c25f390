#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "stepwright/launch_scripts/batch/allocation.h"

namespace stepwright::launch_scripts {

/// Keeps the lines of a file of hosts under a short name and returns the path by which a job sees
/// the file.
using HostFileKeeper = std::function<std::string(std::string_view name, const std::string& lines)>;

/// Returns the variables by which a scheduler tells a batch script how large its job is, as the
/// first node sees them: SLURM_NNODES, SLURM_JOB_NODELIST, PBS_NODEFILE, LSB_HOSTS, NHOSTS and
/// others. Variables that nothing in the options says are absent. Sources: sbatch(1) "OUTPUT
/// ENVIRONMENT VARIABLES", the PBS Professional user's guide, IBM Spectrum LSF "Environment
/// variables set for job execution", qsub(1) of Grid Engine.
std::map<std::string, std::string> extent_environment(const Allocation& allocation,
                                                      const HostFileKeeper& keep_hosts);

/// Returns the tasks of a node: what is said, or the tasks of all nodes divided among them; 0:
/// nothing says.
std::int64_t tasks_of_node(const Allocation& allocation);

/// The variable in which the tasks of a job array find their index.
std::string_view array_variable(std::string_view scheduler);

}  // namespace stepwright::launch_scripts

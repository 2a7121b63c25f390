#include "stepwright/capture/allocation_environment.h"

#include <fmt/format.h>

#include <cstdint>
#include <utility>

#include "stepwright/capture/batch_names.h"
#include "stepwright/core/output_file.h"
#include "stepwright/launch_scripts/batch/extent_environment.h"

namespace stepwright::capture {
namespace {

using Variables = std::map<std::string, std::string>;

std::string folder_now() {
  std::error_code ignored;
  return std::filesystem::current_path(ignored).string();
}

/// Returns a function that writes a host file into a folder and returns its path.
launch_scripts::HostFileKeeper host_files_in(const BatchJobAllocation& allocation,
                                             const std::filesystem::path& folder) {
  return [&allocation, folder](std::string_view name, const std::string& lines) {
    const std::filesystem::path path = folder / fmt::format("{}-{}", name, allocation.id);
    write_file(path, lines);
    return path.string();
  };
}

Variables slurm_names(const BatchJobAllocation& allocation) {
  const std::string id = std::to_string(allocation.id);
  return {{"SLURM_JOB_ID", id},
          {"SLURM_JOBID", id},
          {"SLURM_JOB_NAME", allocation.name},
          {"SLURMD_NODENAME", "node001"},
          {"SLURM_NODEID", "0"},
          {"SLURM_PROCID", "0"},
          {"SLURM_LOCALID", "0"},
          {"SLURM_SUBMIT_HOST", "login001"},
          {"SLURM_SUBMIT_DIR", folder_now()}};
}

/// Returns the variables that identify a job and the position of a process in it.
Variables names_of_job(const BatchJobAllocation& allocation) {
  const std::string id = std::to_string(allocation.id);
  if (allocation.scheduler == "pbs") {
    return {{"PBS_JOBID", fmt::format("{}.pbs", allocation.id)},
            {"PBS_JOBNAME", allocation.name},
            {"PBS_O_WORKDIR", folder_now()},
            {"PBS_ENVIRONMENT", "PBS_BATCH"},
            {"PBS_NODENUM", "0"},
            {"PBS_TASKNUM", "1"}};
  }
  if (allocation.scheduler == "lsf") {
    return {{"LSB_JOBID", id}, {"LSB_JOBNAME", allocation.name}, {"LS_SUBCWD", folder_now()}};
  }
  if (allocation.scheduler == "sge") {
    return {{"JOB_ID", id}, {"JOB_NAME", allocation.name}, {"SGE_O_WORKDIR", folder_now()}};
  }
  return slurm_names(allocation);
}

/// Returns the allocation, with one node if its options state no number.
BatchJobAllocation with_nodes(BatchJobAllocation allocation) {
  allocation.nodes = allocation.nodes.value_or(1);
  return allocation;
}

}  // namespace

std::map<std::string, std::string> batch_job_environment(const BatchJobAllocation& allocation,
                                                         const std::filesystem::path& folder) {
  Variables variables = names_of_job(allocation);
  variables.merge(launch_scripts::job_size_environment(with_nodes(allocation),
                                                       host_files_in(allocation, folder)));
  return variables;
}

std::map<std::string, std::string> srun_task_environment(const BatchJobAllocation& allocation) {
  const BatchJobAllocation whole = with_nodes(allocation);
  const std::int64_t nodes = *whole.nodes, each = launch_scripts::tasks_on_each_node(whole);
  const std::int64_t tasks = allocation.tasks.value_or(nodes * (each > 0 ? each : 1));
  Variables variables = slurm_names(allocation);
  variables.merge(launch_scripts::job_size_environment(whole, {}));
  variables["SLURM_STEP_ID"] = "0";
  variables["SLURM_STEP_NODELIST"] = placeholder_host_list(nodes);
  variables["SLURM_STEP_NUM_NODES"] = std::to_string(nodes);
  variables["SLURM_STEP_NUM_TASKS"] = std::to_string(tasks);
  variables["SLURM_NTASKS"] = variables["SLURM_NPROCS"] = std::to_string(tasks);
  variables["SLURM_LAUNCH_NODE_IPADDR"] = "10.0.0.1";
  return variables;
}

}  // namespace stepwright::capture

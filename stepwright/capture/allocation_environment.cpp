#include "stepwright/capture/allocation_environment.h"

#include <fmt/format.h>

#include <cstdint>
#include <utility>

#include "stepwright/capture/host_list.h"
#include "stepwright/core/output_file.h"

namespace stepwright::capture {
namespace {

using Variables = std::map<std::string, std::string>;

std::int64_t nodes_of(const Allocation& allocation) { return allocation.nodes.value_or(1); }

/// Tasks of a node: what is said, or the tasks of all nodes divided among them; 0: nothing says.
std::int64_t tasks_per_node(const Allocation& allocation) {
  if (allocation.tasks_per_node) return *allocation.tasks_per_node;
  if (!allocation.tasks) return 0;
  return (*allocation.tasks + nodes_of(allocation) - 1) / nodes_of(allocation);
}

std::string folder_now() {
  std::error_code ignored;
  return std::filesystem::current_path(ignored).string();
}

/// "0,1,2,3".
std::string device_numbers(std::int64_t devices) {
  std::string numbers;
  for (std::int64_t i = 0; i < devices; ++i) numbers += (i == 0 ? "" : ",") + std::to_string(i);
  return numbers;
}

void add_slurm_tasks(const Allocation& allocation, Variables& variables) {
  const std::int64_t nodes = nodes_of(allocation), each = tasks_per_node(allocation);
  if (each > 0) {
    const std::int64_t tasks = allocation.tasks.value_or(nodes * each);
    variables["SLURM_NTASKS"] = variables["SLURM_NPROCS"] = std::to_string(tasks);
    if (allocation.tasks_per_node) variables["SLURM_NTASKS_PER_NODE"] = std::to_string(each);
  }
  const std::int64_t shown = each > 0 ? each : 1;
  variables["SLURM_TASKS_PER_NODE"] =
      nodes > 1 ? fmt::format("{}(x{})", shown, nodes) : std::to_string(shown);
}

Variables slurm_environment(const Allocation& allocation) {
  const std::string nodes = std::to_string(nodes_of(allocation));
  const std::string list = host_list(nodes_of(allocation));
  const std::string id = std::to_string(allocation.id);
  Variables variables = {{"SLURM_JOB_ID", id},
                         {"SLURM_JOBID", id},
                         {"SLURM_JOB_NAME", allocation.name},
                         {"SLURM_NNODES", nodes},
                         {"SLURM_JOB_NUM_NODES", nodes},
                         {"SLURM_NODELIST", list},
                         {"SLURM_JOB_NODELIST", list},
                         {"SLURMD_NODENAME", "node001"},
                         {"SLURM_NODEID", "0"},
                         {"SLURM_PROCID", "0"},
                         {"SLURM_LOCALID", "0"},
                         {"SLURM_SUBMIT_HOST", "login001"},
                         {"SLURM_SUBMIT_DIR", folder_now()}};
  add_slurm_tasks(allocation, variables);
  if (allocation.cpus_per_task) {
    const std::int64_t cpus = *allocation.cpus_per_task;
    variables["SLURM_CPUS_PER_TASK"] = std::to_string(cpus);
    const std::int64_t tasks = tasks_per_node(allocation);
    variables["SLURM_CPUS_ON_NODE"] = std::to_string(cpus * (tasks > 0 ? tasks : 1));
  }
  if (allocation.devices_per_node) {
    const std::int64_t devices = *allocation.devices_per_node;
    variables["SLURM_GPUS_ON_NODE"] = variables["SLURM_GPUS_PER_NODE"] = std::to_string(devices);
    variables["SLURM_JOB_GPUS"] = device_numbers(devices);
    variables["CUDA_VISIBLE_DEVICES"] = device_numbers(devices);
  }
  return variables;
}

/// One line for each task of each node, as MPI reads it.
std::string host_file(const Allocation& allocation, const std::filesystem::path& folder,
                      std::string_view name, std::string_view behind) {
  const std::filesystem::path path = folder / fmt::format("{}-{}", name, allocation.id);
  std::string lines;
  const std::int64_t each =
      behind.empty() && tasks_per_node(allocation) > 0 ? tasks_per_node(allocation) : 1;
  for (const std::string& host : host_names(nodes_of(allocation))) {
    for (std::int64_t i = 0; i < each; ++i) lines += fmt::format("{}{}\n", host, behind);
  }
  write_file(path, lines);
  return path.string();
}

Variables pbs_environment(const Allocation& allocation, const std::filesystem::path& folder) {
  Variables variables = {{"PBS_JOBID", fmt::format("{}.pbs", allocation.id)},
                         {"PBS_JOBNAME", allocation.name},
                         {"PBS_O_WORKDIR", folder_now()},
                         {"PBS_ENVIRONMENT", "PBS_BATCH"},
                         {"PBS_NODENUM", "0"},
                         {"PBS_TASKNUM", "1"},
                         {"PBS_NUM_NODES", std::to_string(nodes_of(allocation))},
                         {"PBS_NODEFILE", host_file(allocation, folder, "pbs_nodes", "")}};
  if (const std::int64_t each = tasks_per_node(allocation); each > 0) {
    variables["PBS_NUM_PPN"] = std::to_string(each);
    variables["PBS_NP"] = std::to_string(each * nodes_of(allocation));
  }
  return variables;
}

Variables lsf_environment(const Allocation& allocation, const std::filesystem::path& folder) {
  const std::int64_t each = tasks_per_node(allocation) > 0 ? tasks_per_node(allocation) : 1;
  std::string hosts, counted;
  for (const std::string& host : host_names(nodes_of(allocation))) {
    for (std::int64_t i = 0; i < each; ++i) hosts += (hosts.empty() ? "" : " ") + host;
    counted += fmt::format("{}{} {}", counted.empty() ? "" : " ", host, each);
  }
  return {{"LSB_JOBID", std::to_string(allocation.id)},
          {"LSB_JOBNAME", allocation.name},
          {"LS_SUBCWD", folder_now()},
          {"LSB_HOSTS", hosts},
          {"LSB_MCPU_HOSTS", counted},
          {"LSB_DJOB_NUMPROC", std::to_string(each * nodes_of(allocation))},
          {"LSB_MAX_NUM_PROCESSORS", std::to_string(each * nodes_of(allocation))},
          {"LSB_DJOB_HOSTFILE", host_file(allocation, folder, "lsf_hosts", "")}};
}

Variables sge_environment(const Allocation& allocation, const std::filesystem::path& folder) {
  const std::int64_t each = tasks_per_node(allocation) > 0 ? tasks_per_node(allocation) : 1;
  return {{"JOB_ID", std::to_string(allocation.id)},
          {"JOB_NAME", allocation.name},
          {"SGE_O_WORKDIR", folder_now()},
          {"NHOSTS", std::to_string(nodes_of(allocation))},
          {"NSLOTS", std::to_string(each * nodes_of(allocation))},
          {"SGE_JOB_HOSTLIST", host_file(allocation, folder, "sge_hosts", "")},
          {"PE_HOSTFILE", host_file(allocation, folder, "sge_parallel_hosts",
                                    fmt::format(" {} all.q UNDEFINED", each))}};
}

}  // namespace

std::map<std::string, std::string> job_environment(const Allocation& allocation,
                                                   const std::filesystem::path& folder) {
  if (allocation.scheduler == "pbs") return pbs_environment(allocation, folder);
  if (allocation.scheduler == "lsf") return lsf_environment(allocation, folder);
  if (allocation.scheduler == "sge") return sge_environment(allocation, folder);
  return slurm_environment(allocation);
}

std::map<std::string, std::string> step_environment(const Allocation& allocation) {
  const std::int64_t nodes = nodes_of(allocation), each = tasks_per_node(allocation);
  const std::int64_t tasks = allocation.tasks.value_or(nodes * (each > 0 ? each : 1));
  Variables variables = slurm_environment(allocation);
  variables["SLURM_STEP_ID"] = "0";
  variables["SLURM_STEP_NODELIST"] = host_list(nodes);
  variables["SLURM_STEP_NUM_NODES"] = std::to_string(nodes);
  variables["SLURM_STEP_NUM_TASKS"] = std::to_string(tasks);
  variables["SLURM_NTASKS"] = variables["SLURM_NPROCS"] = std::to_string(tasks);
  variables["SLURM_LAUNCH_NODE_IPADDR"] = "10.0.0.1";
  return variables;
}

}  // namespace stepwright::capture

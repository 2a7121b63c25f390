#include "stepwright/launch_scripts/batch/extent_environment.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "stepwright/launch_scripts/batch/host_list.h"

namespace stepwright::launch_scripts {
namespace {

using BatchVariables = std::map<std::string, std::string>;

std::int64_t nodes_of_job(const BatchJobAllocation& allocation) {
  return allocation.nodes.value_or(1);
}

/// Returns the tasks of a node, at least one.
std::int64_t slots_of_node(const BatchJobAllocation& allocation) {
  return std::max<std::int64_t>(1, tasks_on_each_node(allocation));
}

/// Most entries in a list that is made for a variable or a host file.
constexpr std::int64_t kLongestList = 1'000'000;

/// True if a list with one entry for each task of each node is not too long.
bool may_be_listed(const BatchJobAllocation& allocation) {
  return nodes_of_job(allocation) <= kLongestList / slots_of_node(allocation);
}

/// Returns device numbers joined by commas: "0,1,2,3".
std::string numbered_devices(std::int64_t devices) {
  std::string numbers;
  for (std::int64_t i = 0; i < devices; ++i) numbers += (i == 0 ? "" : ",") + std::to_string(i);
  return numbers;
}

/// Returns one line for each task of each node, as MPI reads it; if `behind` is not empty, one line
/// for each node with `behind` appended.
std::string host_lines(const BatchJobAllocation& allocation, std::string_view behind) {
  std::string lines;
  const std::int64_t each = behind.empty() ? slots_of_node(allocation) : 1;
  for (const std::string& host : placeholder_host_names(nodes_of_job(allocation))) {
    for (std::int64_t i = 0; i < each; ++i) lines += fmt::format("{}{}\n", host, behind);
  }
  return lines;
}

void add_slurm_tasks(const BatchJobAllocation& allocation, BatchVariables& variables) {
  const std::int64_t nodes = nodes_of_job(allocation);
  const std::int64_t each = tasks_on_each_node(allocation);
  if (each > 0) {
    const std::int64_t tasks = allocation.tasks.value_or(nodes * each);
    variables["SLURM_NTASKS"] = variables["SLURM_NPROCS"] = std::to_string(tasks);
    if (allocation.tasks_per_node) variables["SLURM_NTASKS_PER_NODE"] = std::to_string(each);
  }
  const std::int64_t shown = slots_of_node(allocation);
  variables["SLURM_TASKS_PER_NODE"] =
      nodes > 1 ? fmt::format("{}(x{})", shown, nodes) : std::to_string(shown);
}

/// Returns the first index of a job array: "0" of "0-3,7".
std::string first_index(const BatchJobAllocation& allocation) {
  const std::size_t end = allocation.array.find_first_not_of("0123456789");
  return allocation.array.substr(0, end);
}

BatchVariables slurm_extent(const BatchJobAllocation& allocation) {
  BatchVariables variables;
  if (allocation.nodes) {
    const std::string list = placeholder_host_list(*allocation.nodes);
    variables["SLURM_NODELIST"] = variables["SLURM_JOB_NODELIST"] = list;
    variables["SLURM_NNODES"] = variables["SLURM_JOB_NUM_NODES"] =
        std::to_string(*allocation.nodes);
    add_slurm_tasks(allocation, variables);
  } else if (allocation.tasks) {
    variables["SLURM_NTASKS"] = variables["SLURM_NPROCS"] = std::to_string(*allocation.tasks);
  }
  if (!allocation.nodes && allocation.tasks_per_node) {
    variables["SLURM_NTASKS_PER_NODE"] = std::to_string(*allocation.tasks_per_node);
  }
  if (allocation.cpus_per_task) {
    const std::int64_t cpus = *allocation.cpus_per_task;
    variables["SLURM_CPUS_PER_TASK"] = std::to_string(cpus);
    variables["SLURM_CPUS_ON_NODE"] = std::to_string(cpus * slots_of_node(allocation));
  }
  if (allocation.devices_per_task) {
    variables["SLURM_GPUS_PER_TASK"] = std::to_string(*allocation.devices_per_task);
  }
  if (allocation.devices_per_node) {
    const std::int64_t devices = *allocation.devices_per_node;
    variables["SLURM_GPUS_ON_NODE"] = variables["SLURM_GPUS_PER_NODE"] = std::to_string(devices);
    variables["SLURM_JOB_GPUS"] = numbered_devices(devices);
    variables["CUDA_VISIBLE_DEVICES"] = numbered_devices(devices);
  }
  return variables;
}

BatchVariables pbs_extent(const BatchJobAllocation& allocation, const HostFileKeeper& keep_hosts) {
  if (!allocation.nodes) {
    if (!allocation.devices) return {};
    return {{"PBS_NGPUS", std::to_string(*allocation.devices)}};
  }
  BatchVariables variables = {{"PBS_NUM_NODES", std::to_string(*allocation.nodes)}};
  if (may_be_listed(allocation)) {
    variables["PBS_NODEFILE"] = keep_hosts("pbs_nodes", host_lines(allocation, ""));
  }
  if (const std::int64_t each = tasks_on_each_node(allocation); each > 0) {
    variables["PBS_NUM_PPN"] = std::to_string(each);
    variables["PBS_NP"] = std::to_string(each * *allocation.nodes);
  }
  return variables;
}

BatchVariables lsf_extent(const BatchJobAllocation& allocation, const HostFileKeeper& keep_hosts) {
  if (!allocation.nodes || !may_be_listed(allocation)) return {};
  const std::int64_t each = slots_of_node(allocation);
  std::string hosts, counted;
  for (const std::string& host : placeholder_host_names(*allocation.nodes)) {
    for (std::int64_t i = 0; i < each; ++i) hosts += (hosts.empty() ? "" : " ") + host;
    counted += fmt::format("{}{} {}", counted.empty() ? "" : " ", host, each);
  }
  const std::string slots = std::to_string(each * *allocation.nodes);
  return {{"LSB_HOSTS", hosts},
          {"LSB_MCPU_HOSTS", counted},
          {"LSB_DJOB_NUMPROC", slots},
          {"LSB_MAX_NUM_PROCESSORS", slots},
          {"LSB_DJOB_HOSTFILE", keep_hosts("lsf_hosts", host_lines(allocation, ""))}};
}

BatchVariables sge_extent(const BatchJobAllocation& allocation, const HostFileKeeper& keep_hosts) {
  if (!allocation.nodes) {
    if (!allocation.tasks) return {};
    return {{"NSLOTS", std::to_string(*allocation.tasks)}};
  }
  if (!may_be_listed(allocation)) return {};
  const std::int64_t each = slots_of_node(allocation);
  const std::string behind = fmt::format(" {} all.q UNDEFINED", each);
  return {{"NHOSTS", std::to_string(*allocation.nodes)},
          {"NSLOTS", std::to_string(each * *allocation.nodes)},
          {"SGE_JOB_HOSTLIST", keep_hosts("sge_hosts", host_lines(allocation, ""))},
          {"PE_HOSTFILE", keep_hosts("sge_parallel_hosts", host_lines(allocation, behind))}};
}

}  // namespace

std::int64_t tasks_on_each_node(const BatchJobAllocation& allocation) {
  if (allocation.tasks_per_node) return *allocation.tasks_per_node;
  if (!allocation.tasks || !allocation.nodes) return 0;
  return (*allocation.tasks + *allocation.nodes - 1) / *allocation.nodes;
}

std::string_view job_array_index_variable(std::string_view scheduler) {
  if (scheduler == "pbs") return "PBS_ARRAY_INDEX";
  if (scheduler == "lsf") return "LSB_JOBINDEX";
  return scheduler == "sge" ? "SGE_TASK_ID" : "SLURM_ARRAY_TASK_ID";
}

std::map<std::string, std::string> job_size_environment(const BatchJobAllocation& allocation,
                                                        const HostFileKeeper& keep_hosts) {
  BatchVariables variables = allocation.scheduler == "pbs"   ? pbs_extent(allocation, keep_hosts)
                             : allocation.scheduler == "lsf" ? lsf_extent(allocation, keep_hosts)
                             : allocation.scheduler == "sge" ? sge_extent(allocation, keep_hosts)
                                                             : slurm_extent(allocation);
  if (const std::string first = first_index(allocation); !first.empty()) {
    variables[std::string(job_array_index_variable(allocation.scheduler))] = first;
  }
  return variables;
}

}  // namespace stepwright::launch_scripts

#include "stepwright/framework_files/launchers/torchrun.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <span>
#include <string_view>

#include "stepwright/core/scalar.h"
#include "stepwright/framework_files/syntax/shell_batch.h"
#include "stepwright/framework_files/syntax/shell_state.h"

namespace stepwright {
namespace {

using LauncherWords = std::span<const ShellWord>;

/// The value of the first of some options, in words in front of the program or else in `#SBATCH`
/// lines.
std::optional<std::int64_t> launched(const StartedCommand& command,
                                     std::initializer_list<std::string_view> names) {
  for (const LauncherWords words :
       {LauncherWords(command.launchers), LauncherWords(command.batch_options)}) {
    for (const std::string_view name : names) {
      const std::string_view brief = name == "--nodes" ? "-N" : name == "--ntasks" ? "-n" : "";
      if (const auto value = batch_option(words, name, brief)) return value;
    }
  }
  return std::nullopt;
}

bool starts_with_any(const StartedCommand& command, std::initializer_list<std::string_view> names) {
  return std::ranges::any_of(command.launchers, [&](const ShellWord& word) {
    return std::ranges::find(names, base_name(word.text)) != names.end();
  });
}

bool has_option(const StartedCommand& command, std::string_view name) {
  return std::ranges::any_of(command.launchers, [&](const ShellWord& word) {
    return std::string_view(word.text).substr(0, word.text.find('=')) == name;
  });
}

}  // namespace

std::string comment_lines(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line.empty() ? "#\n" : fmt::format("# {}\n", line);
  return text;
}

std::string script_head(const PlannedJob& planned, const std::vector<std::string>& header,
                        const std::string& settings) {
  const Cluster& cluster = planned.job.cluster;
  return fmt::format(
      "#!/usr/bin/env bash\n{}set -euo pipefail\n\n"
      "NODES={}\nDEVICES_PER_NODE={}\n"
      "NODE_RANK=${{NODE_RANK:-${{SLURM_NODEID:-0}}}}  # ranks go node by node\n"
      "MASTER_ADDR=${{MASTER_ADDR:-localhost}}\nMASTER_PORT=${{MASTER_PORT:-29500}}\n{}\n",
      comment_lines(header), cluster.nodes, cluster.devices_per_node, settings);
}

std::string torchrun_lines() {
  return "torchrun --nnodes \"$NODES\" --nproc-per-node \"$DEVICES_PER_NODE\" \\\n"
         "  --node-rank \"$NODE_RANK\" --master-addr \"$MASTER_ADDR\" --master-port "
         "\"$MASTER_PORT\" \\\n";
}

void read_launcher(const StartedCommand& command, Draft& draft) {
  if (starts_with_any(command, {"mpirun", "mpiexec", "orterun"})) {
    draft.ranks = batch_option(command.launchers, "-np", "-n");
    return;
  }
  const bool torchrun =
      starts_with_any(command, {"torchrun", "torch.distributed.run", "torch.distributed.launch"});
  const bool starter = torchrun || starts_with_any(command, {"accelerate", "deepspeed"});
  draft.ranks = launched(command, {"--num_processes", "--num-processes"});
  draft.nodes = launched(command, {"--nnodes", "--num_nodes", "--num-nodes", "--num_machines",
                                   "--num-machines", "--nodes"});
  draft.devices_of_node =
      launched(command, {"--nproc_per_node", "--nproc-per-node", "--num_gpus", "--num-gpus"});
  if (!draft.devices_of_node) {
    draft.devices_of_node =
        launched(command, {"--gpus-per-node", "--gpus_per_node", "--gres", "--gpus-per-task"});
  }
  if (torchrun && !draft.nodes && !has_option(command, "--nnodes")) draft.nodes = 1;
  if (starter || draft.ranks) return;
  draft.ranks = launched(command, {"--ntasks"});
  if (const auto tasks = launched(command, {"--ntasks-per-node"})) draft.devices_of_node = tasks;
}

std::optional<std::int64_t> environment_number(const StartedCommand& command,
                                               const std::string& name) {
  const auto found = command.environment.find(name);
  if (found == command.environment.end()) return std::nullopt;
  const IntegerReading reading = read_integer(found->second.text);
  const bool good = reading.status == IntegerReading::Status::kGood && reading.value > 0;
  return good ? std::optional(reading.value) : std::nullopt;
}

void read_own_processes(const StartedCommand& command, Draft& draft) {
  read_launcher(command, draft);
  if (const auto nodes = environment_number(command, "NNODES")) draft.nodes = nodes;
  if (const auto devices = environment_number(command, "NPROC_PER_NODE")) {
    draft.devices_of_node = devices;
  }
  if (draft.devices_of_node && !draft.nodes && !command.environment.contains("NNODES")) {
    draft.nodes = 1;
  }
}

}  // namespace stepwright

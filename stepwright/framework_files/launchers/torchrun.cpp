#include "stepwright/framework_files/launchers/torchrun.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "stepwright/core/quoting.h"
#include "stepwright/core/scalar.h"
#include "stepwright/core/utf8.h"
#include "stepwright/launch_scripts/shell/batch.h"
#include "stepwright/launch_scripts/shell/state.h"

namespace stepwright::framework_files {
namespace {

std::vector<std::string_view> parts_between(std::string_view text, char sign) {
  std::vector<std::string_view> parts;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(sign, at), text.size());
    parts.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

using LauncherWords = Words;

/// The value of the first of some options, in words in front of the program or else in `#SBATCH`
/// lines.
std::optional<std::int64_t> launched(const StartedCommand& command,
                                     std::initializer_list<std::string_view> names) {
  for (const LauncherWords words :
       {LauncherWords(command.launchers), LauncherWords(command.batch_options)}) {
    for (const std::string_view name : names) {
      const std::string_view brief = name == "--nodes" ? "-N" : name == "--ntasks" ? "-n" : "";
      if (const auto value = launch_scripts::batch_option(words, name, brief)) return value;
    }
  }
  return std::nullopt;
}

bool starts_with_any(const StartedCommand& command, std::initializer_list<std::string_view> names) {
  return std::ranges::any_of(command.launchers, [&](const ShellWord& word) {
    return std::ranges::find(names, launch_scripts::base_name(word.text)) != names.end();
  });
}

bool has_option(const StartedCommand& command, std::string_view name) {
  return std::ranges::any_of(command.launchers, [&](const ShellWord& word) {
    return std::string_view(word.text).substr(0, word.text.find('=')) == name;
  });
}

/// The devices that `CUDA_VISIBLE_DEVICES` leaves to a command, where it lists them.
std::optional<std::int64_t> visible_devices(const StartedCommand& command) {
  const auto found = command.environment.find("CUDA_VISIBLE_DEVICES");
  if (found == command.environment.end()) return std::nullopt;
  std::int64_t count = 0;
  for (const std::string_view one : parts_between(found->second.text, ',')) {
    const bool number = !one.empty() && one.find_first_not_of("0123456789") == one.npos;
    if (!number && !one.starts_with("GPU-") && !one.starts_with("MIG-")) return std::nullopt;
    ++count;
  }
  return count;
}

/// `--include host:0,1@other:0,1` of DeepSpeed: nodes, and devices of each where all list as many;
/// deepspeedai/DeepSpeed deepspeed/launcher/runner.py: parse_resource_filter.
void read_included(const StartedCommand& command, Draft& draft) {
  const std::vector<ShellWord>& words = command.launchers;
  for (std::size_t i = 0; i < words.size(); ++i) {
    std::string_view value = words[i].text;
    if (!value.starts_with("--include") && value != "-i") continue;
    const std::size_t equals = value.find('=');
    if (equals == std::string_view::npos && i + 1 == words.size()) return;
    value = equals == std::string_view::npos ? words[i + 1].text : value.substr(equals + 1);
    std::int64_t nodes = 0;
    std::optional<std::int64_t> devices;
    for (const std::string_view node : parts_between(value, '@')) {
      const std::size_t colon = node.find(':');
      ++nodes;
      if (colon == std::string_view::npos) continue;
      const auto slots =
          static_cast<std::int64_t>(1 + std::ranges::count(node.substr(colon + 1), ','));
      if (devices && *devices != slots) return;
      devices = slots;
    }
    draft.nodes = nodes;
    if (devices) draft.devices_of_node = devices;
    return;
  }
}

bool starts_with_mpi(const StartedCommand& command) {
  return starts_with_any(command, {"mpirun", "mpiexec", "mpiexec.hydra", "orterun"});
}

/// The processes that `ppr:8:node` places on each node.
std::optional<std::int64_t> placed_on_node(std::string_view policy) {
  const std::size_t at = policy.find("ppr:");
  if (at == std::string_view::npos) return std::nullopt;
  const std::vector<std::string_view> parts = parts_between(policy.substr(at), ':');
  if (parts.size() < 3 || !parts[2].starts_with("node")) return std::nullopt;
  const IntegerReading count = read_integer(std::string(parts[1]));
  const bool sound = count.status == IntegerReading::Status::kGood && count.value > 0;
  return sound ? std::optional(count.value) : std::nullopt;
}

/// Processes in all and of each node. Open MPI's mpirun(1): `-np`, `-npernode`, `-N`, `--map-by
/// ppr:N:node`; Hydra of MPICH and Intel MPI: `-n`, `-ppn`, `-perhost`.
void read_mpi(const StartedCommand& command, Draft& draft) {
  const std::vector<ShellWord>& words = command.launchers;
  draft.ranks = launch_scripts::batch_option(words, "-np", "-n");
  if (!draft.ranks) draft.ranks = launch_scripts::batch_option(words, "--np");
  for (const char* name : {"-npernode", "--npernode", "-ppn", "--ppn", "-perhost", "-N"}) {
    const auto found = std::ranges::find(words, name, &ShellWord::text);
    if (found != words.end())
      draft.devices_of_node = launch_scripts::batch_option({found, words.end()}, name);
  }
  for (std::size_t i = 1; i < words.size(); ++i) {
    const bool maps = words[i - 1].text == "--map-by" || words[i - 1].text == "-map-by";
    if (const auto placed = maps ? placed_on_node(words[i].text) : std::nullopt) {
      draft.devices_of_node = placed;
    }
  }
  if (!draft.devices_of_node || draft.ranks.value_or(0) % *draft.devices_of_node != 0) return;
  draft.nodes = draft.ranks ? *draft.ranks / *draft.devices_of_node : 1;
  draft.ranks.reset();
}

}  // namespace

std::string comment_lines(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += as_comment(line) + "\n";
  return text;
}

std::string script_head(const plan::PlannedJob& planned, const std::vector<std::string>& header,
                        const std::string& settings) {
  const cluster::Cluster& cluster = planned.job.cluster;
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

bool has_launcher(const StartedCommand& command) {
  return starts_with_mpi(command) ||
         starts_with_any(command, {"torchrun", "torch.distributed.run", "torch.distributed.launch",
                                   "accelerate", "deepspeed", "srun", "tune"});
}

namespace {

/// Whether a program that is told how many processes it starts stands in front.
bool has_starter(const StartedCommand& command) {
  return starts_with_mpi(command) ||
         starts_with_any(command, {"torchrun", "torch.distributed.run", "torch.distributed.launch",
                                   "accelerate", "deepspeed", "tune"});
}

}  // namespace

void read_launcher(const StartedCommand& command, Draft& draft) {
  if (starts_with_mpi(command)) return read_mpi(command, draft);
  const bool torchrun = starts_with_any(
      command, {"torchrun", "torch.distributed.run", "torch.distributed.launch", "tune"});
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
  const bool deepspeed = starts_with_any(command, {"deepspeed"});
  if (deepspeed) read_included(command, draft);
  const bool elsewhere = has_option(command, "--hostfile") || has_option(command, "-H");
  if (deepspeed && draft.devices_of_node && !draft.nodes && !elsewhere) draft.nodes = 1;
  if (!draft.ranks && !draft.devices_of_node && !elsewhere) {
    draft.devices_of_node = visible_devices(command);
    if (draft.devices_of_node && !draft.nodes) draft.nodes = 1;
  }
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
  // A task of a batch system starts the processes of a node.
  if (!has_starter(command)) {
    draft.ranks.reset();
    draft.devices_of_node = launched(command, {"--nproc_per_node", "--gpus-per-node",
                                               "--gpus_per_node", "--gres", "--gpus-per-task"});
    if (!draft.devices_of_node) draft.devices_of_node = visible_devices(command);
  }
  if (const auto nodes = environment_number(command, "NNODES")) draft.nodes = nodes;
  if (const auto devices = environment_number(command, "NPROC_PER_NODE")) {
    draft.devices_of_node = devices;
  }
  if (draft.devices_of_node && !draft.nodes && !command.environment.contains("NNODES")) {
    draft.nodes = 1;
  }
}

void list_open_extents(const StartedCommand& command, Draft& draft) {
  if (draft.given_extent) return;
  static constexpr std::string_view kNodes[] = {"--nnodes", "--num_nodes", "--num-nodes",
                                                "--num_machines", "--num-machines"};
  static constexpr std::string_view kDevices[] = {"--nproc_per_node", "--nproc-per-node",
                                                  "--num_gpus",       "--num-gpus",
                                                  "--num_processes",  "--num-processes"};
  static constexpr std::string_view kRanks[] = {"-np", "--np", "-n"};
  const bool mpi = starts_with_mpi(command);
  const auto list = [&](std::string_view name, const ShellWord& value, bool nodes) {
    draft.report.not_read.push_back(
        {std::string(name), printable(value.text), command.file, value.line, Matters::kYes,
         fmt::format("{}: --{} says it, or --set {}=VALUE",
                     nodes ? "on how many nodes it runs" : "how many devices train",
                     nodes ? "nodes" : "gpus", printable(value.open.front()))});
  };
  const std::vector<ShellWord>& words = command.launchers;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::size_t equals = words[i].text.find('=');
    const std::string_view name = std::string_view(words[i].text).substr(0, equals);
    const bool nodes = std::ranges::find(kNodes, name) != std::end(kNodes);
    const bool ranks = mpi && std::ranges::find(kRanks, name) != std::end(kRanks);
    const bool devices = ranks || std::ranges::find(kDevices, name) != std::end(kDevices);
    const std::size_t at = equals == std::string::npos ? i + 1 : i;
    if ((!nodes && !devices) || at >= words.size() || words[at].open.empty()) continue;
    list(name, words[at], nodes);
  }
  for (const auto& [name, nodes] :
       {std::pair("NNODES", true), std::pair("NPROC_PER_NODE", false)}) {
    const auto found = command.environment.find(name);
    if (found == command.environment.end() || found->second.open.empty()) continue;
    if (nodes ? !draft.nodes : !draft.devices_of_node) list(name, found->second, nodes);
  }
}

}  // namespace stepwright::framework_files

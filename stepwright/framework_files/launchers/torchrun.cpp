#include "stepwright/framework_files/launchers/torchrun.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <vector>

#include "stepwright/core/error.h"
#include "stepwright/core/quoting.h"
#include "stepwright/core/scalar.h"
#include "stepwright/core/utf8.h"
#include "stepwright/framework_files/draft/words_table.h"
#include "stepwright/launch_scripts/batch/extent_environment.h"
#include "stepwright/launch_scripts/shell/batch.h"
#include "stepwright/launch_scripts/shell/state.h"
#include "stepwright/launch_scripts/shell/syntax.h"

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

constexpr std::string_view kPrograms = "launchers/programs";

/// Returns the kind of a launcher, a program that starts another one; empty for any other word. The
/// words after a launcher are its own options.
std::string_view launcher_kind(const ShellWord& word) {
  return meaning_of_program_setting_word(kPrograms, "programs",
                                         launch_scripts::path_base_name(word.text));
}

using LauncherKinds = std::initializer_list<std::string_view>;

bool is_launcher_of(const ShellWord& word, LauncherKinds kinds) {
  return std::ranges::find(kinds, launcher_kind(word)) != kinds.end();
}

/// True if a section of the table launchers/programs lists a word, such as an option's name.
bool is_listed(std::string_view section, std::string_view word) {
  return !meaning_of_program_setting_word(kPrograms, section, word).empty();
}

/// Returns, for each launcher of some kinds before the training program, the words after it.
std::vector<LauncherWords> words_behind(const StartedCommand& command, LauncherKinds kinds) {
  std::vector<LauncherWords> found;
  const LauncherWords words(command.launchers);
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (!is_launcher_of(words[i], kinds)) continue;
    std::size_t end = i + 1;
    while (end < words.size() && launcher_kind(words[end]).empty()) ++end;
    found.push_back(words.subspan(i, end - i));
  }
  return found;
}

/// Returns the value of a section's first option that is set among the words before the program;
/// nullopt: none is.
std::optional<std::int64_t> launched(const StartedCommand& command, std::string_view section) {
  for (const auto& [name, brief] : words_of_table_section(kPrograms, section)) {
    if (const auto value = launch_scripts::launcher_option_number(command.launchers, name))
      return value;
    if (!brief.starts_with('-')) continue;
    for (const LauncherWords words : words_behind(command, {"srun", "slurm"})) {
      if (const auto value = launch_scripts::launcher_option_number(words, name, brief))
        return value;
    }
  }
  return std::nullopt;
}

bool starts_with_any(const StartedCommand& command, LauncherKinds kinds) {
  return std::ranges::any_of(command.launchers,
                             [&](const ShellWord& word) { return is_launcher_of(word, kinds); });
}

bool has_option(const StartedCommand& command, std::string_view name) {
  return std::ranges::any_of(command.launchers, [&](const ShellWord& word) {
    return std::string_view(word.text).substr(0, word.text.find('=')) == name;
  });
}

/// Reads DeepSpeed's `--include host:0,1@other:0,1`: the nodes, and the devices per node if all
/// hosts list equally many; deepspeedai/DeepSpeed deepspeed/launcher/runner.py:
/// parse_resource_filter.
void read_included(const StartedCommand& command, JobRankCounts& extent) {
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
    extent.nodes = nodes;
    if (devices) extent.devices_of_node = devices;
    return;
  }
}

bool starts_with_mpi(const StartedCommand& command) { return starts_with_any(command, {"mpi"}); }

/// Returns the number of processes that `ppr:8:node` places on each node; nullopt for other
/// policies.
std::optional<std::int64_t> placed_on_node(std::string_view policy) {
  const std::size_t at = policy.find("ppr:");
  if (at == std::string_view::npos) return std::nullopt;
  const std::vector<std::string_view> parts = parts_between(policy.substr(at), ':');
  if (parts.size() < 3 || !parts[2].starts_with("node")) return std::nullopt;
  const IntegerParseResult count = read_integer(std::string(parts[1]));
  const bool sound =
      count.status == IntegerParseResult::IntegerParseStatus::kGood && count.value > 0;
  return sound ? std::optional(count.value) : std::nullopt;
}

/// Numbers of nodes and slots in a host file: "node001 slots=8", "node001:8", "node001".
struct HostLines {
  std::int64_t nodes = 0;
  std::int64_t slots = 0;
  bool said = true;  ///< True if each line of the host file states its slots.
};

HostLines hosts_of(std::string_view text, char between) {
  HostLines hosts;
  for (std::string_view line : parts_between(text, between)) {
    line = line.substr(std::min(line.find_first_not_of(" \t\r"), line.size()));
    if (line.empty() || line.front() == '#') continue;
    ++hosts.nodes;
    std::size_t at = line.find("slots=");
    at = at == std::string_view::npos ? line.find(':') : at + 5;
    const IntegerParseResult count =
        at == std::string_view::npos
            ? IntegerParseResult()
            : read_integer(line.substr(at + 1, line.find_first_of(" \t\r", at + 1) - at - 1));
    const bool good =
        count.status == IntegerParseResult::IntegerParseStatus::kGood && count.value > 0;
    hosts.slots += good ? count.value : 1;
    hosts.said = hosts.said && good;
  }
  return hosts;
}

/// Returns the hosts of a launcher: `-H a:8,b:8`, or `--hostfile FILE` if the script writes the
/// file. nullopt: none.
std::optional<HostLines> given_hosts(const StartedCommand& command) {
  const std::vector<ShellWord>& words = command.launchers;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::size_t equals = std::min(words[i].text.find('='), words[i].text.size());
    const std::string_view name = std::string_view(words[i].text).substr(0, equals);
    const bool list = is_listed("hosts", name);
    const bool file = is_listed("host_files", name);
    const bool apart = equals == words[i].text.size();
    if ((!list && !file) || (apart && i + 1 == words.size())) continue;
    const std::string value = apart ? words[i + 1].text : words[i].text.substr(equals + 1);
    if (list) {
      const bool known = !apart || words[i + 1].open.empty();
      return known ? std::optional(hosts_of(value, ',')) : std::nullopt;
    }
    const auto written = command.written.find(launch_scripts::path_base_name(value));
    if (written == command.written.end()) continue;
    const HostLines hosts = hosts_of(written->second.text, '\n');
    return hosts.nodes > 0 ? std::optional(hosts) : std::nullopt;
  }
  return std::nullopt;
}

/// Numbers of processes that an MPI launcher starts, from its words and its batch job.
struct MpiExtent {
  std::optional<std::int64_t> ranks, nodes, of_node;
  bool open_ranks = false;  ///< True if the launcher gets a number that the script leaves open.
};

/// Returns the processes in total and per node. Options are `-np`, `-npernode`, `-N`, `--map-by
/// ppr:N:node` of Open MPI's mpirun(1), and `-n`, `-ppn`, `-perhost` of Hydra in MPICH and Intel
/// MPI. Without a number, Open MPI starts a process for each slot of its hosts or of the batch job.
MpiExtent mpi_extent(const StartedCommand& command) {
  MpiExtent extent;
  const auto all = words_behind(command, {"mpi"});
  if (all.empty()) return extent;
  const LauncherWords words = all.front();
  extent.ranks = launch_scripts::launcher_option_number(words, "-np", "-n");
  if (!extent.ranks) extent.ranks = launch_scripts::launcher_option_number(words, "--np");
  for (const char* name : {"-npernode", "--npernode", "-ppn", "--ppn", "-perhost", "-N"}) {
    const auto found = std::ranges::find(words, name, &ShellWord::text);
    if (found != words.end())
      extent.of_node = launch_scripts::launcher_option_number({found, words.end()}, name);
  }
  for (std::size_t i = 1; i < words.size(); ++i) {
    const bool maps = words[i - 1].text == "--map-by" || words[i - 1].text == "-map-by";
    const auto placed = maps ? placed_on_node(words[i].text) : std::nullopt;
    if (placed) extent.of_node = placed;
    const bool open = is_listed("mpi_ranks", words[i - 1].text) && !words[i].open.empty();
    extent.open_ranks = extent.open_ranks || (open && !extent.ranks);
  }
  const auto hosts = given_hosts(command);
  if (hosts) {
    extent.nodes = hosts->nodes;
    const bool slots = !extent.ranks && !extent.open_ranks && !extent.of_node && hosts->said;
    if (slots) extent.ranks = hosts->slots;
  }
  if (command.job == nullptr) return extent;
  const launch_scripts::BatchJobAllocation& job = *command.job;
  if (!extent.nodes) extent.nodes = job.nodes;
  if (extent.ranks || extent.open_ranks) return extent;
  const std::int64_t tasks = launch_scripts::tasks_on_each_node(job);
  if (!extent.of_node && tasks > 0) extent.of_node = tasks;
  if (!extent.nodes && job.tasks) extent.ranks = job.tasks;
  return extent;
}

void read_mpi(const StartedCommand& command, JobRankCounts& job_extent) {
  const MpiExtent extent = mpi_extent(command);
  job_extent.ranks = extent.ranks;
  job_extent.devices_of_node = extent.of_node;
  job_extent.nodes = extent.nodes;
  const bool whole = extent.ranks && extent.of_node && *extent.ranks % *extent.of_node == 0;
  if (whole) job_extent.nodes = *extent.ranks / *extent.of_node;
  if (job_extent.ranks && job_extent.nodes && !whole && *job_extent.ranks % *job_extent.nodes != 0)
    job_extent.nodes.reset();
  if (job_extent.nodes && job_extent.devices_of_node) job_extent.ranks.reset();
  if (!job_extent.devices_of_node && !job_extent.ranks && command.job != nullptr) {
    job_extent.devices_of_node = command.job->devices_per_node;
  }
}

/// Reads the processes that IBM's jsrun(1) starts: the number of resource sets, tasks per set and
/// sets per host. False if the command has no jsrun, or numbers are unknown.
bool read_jsrun(const StartedCommand& command, JobRankCounts& extent) {
  const auto all = words_behind(command, {"jsrun"});
  if (all.empty()) return false;
  const LauncherWords words = all.front();
  const auto sets = launch_scripts::launcher_option_number(words, "--nrs", "-n");
  const auto each = launch_scripts::launcher_option_number(words, "--tasks_per_rs", "-a");
  const auto of_host = launch_scripts::launcher_option_number(words, "--rs_per_host", "-r");
  const auto processes = launch_scripts::launcher_option_number(words, "--np", "-p");
  if (!sets && !processes) return false;
  extent.ranks = processes ? *processes : *sets * each.value_or(1);
  if (of_host) extent.devices_of_node = *of_host * each.value_or(1);
  if (!of_host && command.job != nullptr) extent.nodes = command.job->nodes;
  if (extent.devices_of_node && *extent.ranks % *extent.devices_of_node == 0) {
    extent.nodes = *extent.ranks / *extent.devices_of_node;
  }
  if (extent.nodes && extent.devices_of_node) extent.ranks.reset();
  return true;
}

/// Reads DeepSpeed's `--hostfile FILE` if the script writes the file: "node001 slots=8".
void read_host_file(const StartedCommand& command, JobRankCounts& extent) {
  const auto hosts = given_hosts(command);
  if (!hosts || hosts->slots % hosts->nodes != 0) return;
  extent.nodes = hosts->nodes;
  if (!extent.devices_of_node && hosts->said) extent.devices_of_node = hosts->slots / hosts->nodes;
}

/// A number that decides the size of the job and that the script leaves open.
struct OpenExtent {
  std::string name;      ///< Name of the option or variable: "--nnodes".
  std::string value;     ///< Value as it is written: "$WORLD_SIZE".
  std::string variable;  ///< Variable that a person can set; empty: there is none.
  std::uint32_t line = 0;
  bool nodes = false;  ///< True for a number of nodes, false for a number of processes.
};

OpenExtent open_extent(std::string_view name, const ShellWord& value, bool nodes) {
  const std::string& place = value.open.front();
  const bool settable = launch_scripts::is_shell_name(place) ||
                        place.find_first_not_of("0123456789") == std::string::npos;
  return {.name = std::string(name),
          .value = one_line_printable_text(value.text),
          .variable = settable ? place : "",
          .line = value.line,
          .nodes = nodes};
}

/// Returns the numbers of nodes or processes that the launchers' words leave unset.
std::vector<OpenExtent> open_extents(const StartedCommand& command) {
  std::vector<OpenExtent> found;
  const bool mpi = starts_with_mpi(command);
  const std::vector<ShellWord>& words = command.launchers;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::size_t equals = words[i].text.find('=');
    const std::string_view name = std::string_view(words[i].text).substr(0, equals);
    const bool nodes = is_listed("nodes", name);
    const bool ranks = mpi && is_listed("mpi_ranks", name);
    const bool devices = ranks || is_listed("devices", name) || is_listed("processes", name) ||
                         is_listed("tasks", name) || is_listed("tasks_of_node", name);
    const std::size_t at = equals == std::string::npos ? i + 1 : i;
    if ((!nodes && !devices) || at >= words.size() || words[at].open.empty()) continue;
    found.push_back(open_extent(name, words[at], nodes));
  }
  const MpiExtent extent = mpi_extent(command);
  const bool silent = mpi && !extent.ranks && !extent.open_ranks;
  if (silent && !extent.nodes) {
    const ShellWord& program = words_behind(command, {"mpi"}).front().front();
    found.push_back({.name = one_line_printable_text(program.text),
                     .value = "",
                     .variable = "",
                     .line = program.line,
                     .nodes = extent.of_node.has_value()});
  }
  return found;
}

/// Fails if a node has fewer visible devices than processes; adds a note if it has more.
void check_visible_devices(const StartedCommand& command, const JobRankCounts& extent,
                           ImportReport& report) {
  const auto visible = cuda_visible_device_count(command);
  std::optional<std::int64_t> processes = extent.devices_of_node;
  if (extent.ranks && *extent.ranks % extent.nodes.value_or(1) == 0) {
    processes = *extent.ranks / extent.nodes.value_or(1);
  }
  if (!visible || !processes || *visible == *processes) return;
  if (*visible < *processes) {
    fail_input(fmt::format(
        "{}: {} processes start on a node, and CUDA_VISIBLE_DEVICES leaves them {} devices: the "
        "job does not start with fewer devices than processes",
        command.file, *processes, *visible));
  }
  report.notes.push_back(fmt::format(
      "The job uses {} of the {} devices of CUDA_VISIBLE_DEVICES, one for each process.",
      *processes, *visible));
}

}  // namespace

std::string shell_comment_lines(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += as_comment_line(line) + "\n";
  return text;
}

std::string torchrun_script_head(const plan::PlannedJob& planned,
                                 const std::vector<std::string>& header,
                                 const std::string& settings) {
  const cluster::Cluster& cluster = planned.job.cluster;
  return fmt::format(
      "#!/usr/bin/env bash\n{}set -euo pipefail\n\n"
      "NODES={}\nDEVICES_PER_NODE={}\n"
      "NODE_RANK=${{NODE_RANK:-${{SLURM_NODEID:-0}}}}  # ranks go node by node\n"
      "MASTER_ADDR=${{MASTER_ADDR:-localhost}}\nMASTER_PORT=${{MASTER_PORT:-29500}}\n{}\n",
      shell_comment_lines(header), cluster.nodes, cluster.devices_per_node, settings);
}

std::string torchrun_command_lines() {
  return "torchrun --nnodes \"$NODES\" --nproc-per-node \"$DEVICES_PER_NODE\" \\\n"
         "  --node-rank \"$NODE_RANK\" --master-addr \"$MASTER_ADDR\" --master-port "
         "\"$MASTER_PORT\" \\\n";
}

bool uses_process_launcher(const StartedCommand& command) {
  return starts_with_any(command, {"mpi", "torchrun", "accelerate", "deepspeed", "srun"});
}

namespace {

/// True if the program is started by a launcher that is told the number of processes: mpirun,
/// torchrun, accelerate or deepspeed.
bool has_starter(const StartedCommand& command) {
  return starts_with_any(command, {"mpi", "torchrun", "accelerate", "deepspeed"});
}

/// Sets nodes and devices per node from the batch job's allocation, unless the launchers state
/// them.
void take_job(const StartedCommand& command, JobRankCounts& extent) {
  if (command.job == nullptr) return;
  if (!extent.nodes) extent.nodes = command.job->nodes;
  if (!extent.devices_of_node) extent.devices_of_node = command.job->devices_per_node;
}

/// Sets the number of ranks or nodes from a batch job that states only its total devices, if
/// nothing else states the job's size.
void take_devices_of_job(const StartedCommand& command, JobRankCounts& extent) {
  if (command.job == nullptr || !command.job->devices) return;
  const std::int64_t all = *command.job->devices;
  if (extent.ranks || extent.nodes) return;
  if (!extent.devices_of_node) {
    extent.ranks = all;
  } else if (all % *extent.devices_of_node == 0) {
    extent.nodes = all / *extent.devices_of_node;
  }
}

/// Sets the number of nodes from an MPI launcher that starts another launcher once per node:
/// `mpirun -npernode 1 torchrun ...`.
void take_nodes_of_mpi(const StartedCommand& command, JobRankCounts& job_extent) {
  const MpiExtent extent = mpi_extent(command);
  if (job_extent.nodes || extent.of_node.value_or(1) != 1) return;
  job_extent.nodes = extent.ranks ? extent.ranks : extent.nodes;
}

}  // namespace

void read_launcher_rank_counts(const StartedCommand& command, JobRankCounts& extent,
                               ImportReport& report) {
  for (const OpenExtent& one : open_extents(command)) extent.open_extents.push_back(one.variable);
  const bool torchrun = starts_with_any(command, {"torchrun"});
  const bool starter = torchrun || starts_with_any(command, {"accelerate", "deepspeed"});
  if (starts_with_mpi(command) && !starter) return read_mpi(command, extent);
  if (!starter && read_jsrun(command, extent)) return;
  extent.ranks = launched(command, "processes");
  extent.nodes = launched(command, "nodes");
  extent.devices_of_node = launched(command, "devices");
  if (!extent.devices_of_node) extent.devices_of_node = launched(command, "allocated_devices");
  take_nodes_of_mpi(command, extent);
  take_job(command, extent);
  const auto total = extent.devices_of_node ? std::nullopt : launched(command, "all_devices");
  if (total && extent.nodes && *total % *extent.nodes == 0) {
    extent.devices_of_node = *total / *extent.nodes;
  }
  if (torchrun && !extent.nodes && !has_option(command, "--nnodes")) extent.nodes = 1;
  const bool deepspeed = starts_with_any(command, {"deepspeed"});
  if (deepspeed) read_included(command, extent);
  if (deepspeed) read_host_file(command, extent);
  const bool elsewhere = has_option(command, "--hostfile") || has_option(command, "-H");
  if (deepspeed && extent.devices_of_node && !extent.nodes && !elsewhere) extent.nodes = 1;
  take_devices_of_job(command, extent);
  if (!extent.ranks && !extent.devices_of_node && !elsewhere) {
    extent.devices_of_node = cuda_visible_device_count(command);
    if (extent.devices_of_node && !extent.nodes) extent.nodes = 1;
  }
  if (starter && !(deepspeed && has_option(command, "--include"))) {
    check_visible_devices(command, extent, report);
  }
  if (starter || extent.ranks) return;
  const bool silent = !extent.nodes && !extent.devices_of_node && command.job == nullptr;
  // `env://` of torch.distributed takes the number of processes from the environment.
  if (silent && !uses_process_launcher(command))
    extent.ranks = positive_environment_number(command, "WORLD_SIZE");
  // Slots of other schedulers are CPU cores.
  const bool slurm = command.job != nullptr && command.job->scheduler == "slurm";
  if (const auto tasks = launched(command, "tasks")) extent.ranks = tasks;
  if (!extent.ranks && slurm) extent.ranks = command.job->tasks;
  auto tasks = launched(command, "tasks_of_node");
  if (!tasks && slurm) tasks = command.job->tasks_per_node;
  if (tasks) extent.devices_of_node = tasks;
}

std::optional<std::int64_t> cuda_visible_device_count(const StartedCommand& command) {
  const auto found = command.environment.find("CUDA_VISIBLE_DEVICES");
  if (found == command.environment.end()) return std::nullopt;
  return cuda_visible_device_count(found->second.text);
}

std::optional<std::int64_t> cuda_visible_device_count(std::string_view list) {
  std::int64_t count = 0;
  for (const std::string_view one : parts_between(list, ',')) {
    const bool number = !one.empty() && one.find_first_not_of("0123456789") == one.npos;
    if (!number && !one.starts_with("GPU-") && !one.starts_with("MIG-")) return std::nullopt;
    ++count;
  }
  return count;
}

std::optional<std::int64_t> positive_environment_number(const StartedCommand& command,
                                                        const std::string& name) {
  const auto found = command.environment.find(name);
  if (found == command.environment.end()) return std::nullopt;
  const IntegerParseResult reading = read_integer(found->second.text);
  const bool good =
      reading.status == IntegerParseResult::IntegerParseStatus::kGood && reading.value > 0;
  return good ? std::optional(reading.value) : std::nullopt;
}

void read_rank_counts_without_launcher(const StartedCommand& command, JobRankCounts& extent,
                                       ImportReport& report) {
  read_launcher_rank_counts(command, extent, report);
  // Each task of the batch system starts the processes of one node.
  if (!has_starter(command)) {
    extent.ranks.reset();
    extent.devices_of_node = launched(command, "own_devices");
    if (!extent.devices_of_node) extent.devices_of_node = launched(command, "allocated_devices");
    take_job(command, extent);
    if (!extent.devices_of_node) extent.devices_of_node = cuda_visible_device_count(command);
  }
  if (const auto nodes = positive_environment_number(command, "NNODES")) extent.nodes = nodes;
  if (const auto devices = positive_environment_number(command, "NPROC_PER_NODE")) {
    extent.devices_of_node = devices;
  }
  if (extent.devices_of_node && !extent.nodes && !command.environment.contains("NNODES")) {
    extent.nodes = 1;
  }
}

void report_unknown_rank_counts(const StartedCommand& command, const JobRankCounts& extent,
                                ImportReport& report) {
  if (extent.given_extent) return;
  const auto list = [&](const OpenExtent& one) {
    const std::string set =
        one.variable.empty()
            ? ""
            : fmt::format(", or --set {}=VALUE", one_line_printable_text(one.variable));
    report.not_read.push_back(
        {one.name, one.value, command.file, one.line, SettingImpact::kYes,
         fmt::format("{}: --{} says it{}",
                     one.nodes ? "on how many nodes it runs" : "how many devices train",
                     one.nodes ? "nodes" : "gpus", set)});
  };
  for (const OpenExtent& one : open_extents(command)) list(one);
  for (const auto& [name, nodes] :
       {std::pair("NNODES", true), std::pair("NPROC_PER_NODE", false)}) {
    const auto found = command.environment.find(name);
    if (found == command.environment.end() || found->second.open.empty()) continue;
    if (nodes ? !extent.nodes : !extent.devices_of_node) {
      list(open_extent(name, found->second, nodes));
    }
  }
}

}  // namespace stepwright::framework_files

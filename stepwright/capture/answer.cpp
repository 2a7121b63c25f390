#include "stepwright/capture/answer.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "stepwright/capture/batch_names.h"
#include "stepwright/capture/event.h"
#include "stepwright/capture/go_on.h"
#include "stepwright/capture/tools.h"
#include "stepwright/launch_scripts/text.h"

namespace stepwright::capture {
namespace {

constexpr useconds_t kLongestSleepUs = 50'000;

void print(const std::string& text) {
  std::fputs(text.c_str(), stdout);
  std::fflush(stdout);
}

bool has(const Words& words, std::string_view word) {
  return std::ranges::find(words, word) != words.end();
}

/// Returns the value after `--name=`, or the word after a short name; empty if absent.
std::string value_of(const Words& words, std::string_view start, std::string_view short_name = "") {
  for (std::size_t i = 1; i < words.size(); ++i) {
    if (words[i].starts_with(start)) return words[i].substr(start.size());
    if (!short_name.empty() && words[i] == short_name && i + 1 < words.size()) return words[i + 1];
  }
  return "";
}

std::int64_t nodes_of_job(const ScriptCaptureContext& context) {
  if (context.allocation && context.allocation->job_nodes) return *context.allocation->job_nodes;
  return context.stated_node_count().value_or(1);
}

int real_or_nothing(const ScriptCaptureContext& context, const Words& words) {
  return find_real_program(context, launch_scripts::last_path_part(words.front())).empty()
             ? 0
             : exec_real_program(context, words);
}

/// Runs the real program if the number of devices is unknown; if there is none, adds a note.
int ask_for_devices(const ScriptCaptureContext& context, const Words& words) {
  const std::string_view name = launch_scripts::last_path_part(words.front());
  if (!find_real_program(context, name).empty()) return exec_real_program(context, words);
  const std::string note = fmt::format(
      "The script asks {} how many devices a node has, which is unknown; add --gpus-per-node N.",
      name);
  append_capture_text_event(context.folder, kNoteEvent, note);
  print_error_line(note);
  return kCommandNotFoundExitCode;
}

std::string gpu_field(std::string_view field, std::int64_t index, std::int64_t devices) {
  if (field == "index") return std::to_string(index);
  if (field == "count") return std::to_string(devices);
  if (field == "name" || field == "gpu_name") return "NVIDIA GPU";
  if (field == "uuid" || field == "gpu_uuid") return fmt::format("GPU-{:032x}", index);
  return "[N/A]";
}

int answer_nvidia_smi(const ScriptCaptureContext& context, const Words& words) {
  const auto devices = context.devices_per_node();
  if (!devices) return ask_for_devices(context, words);
  const std::string query = value_of(words, "--query-gpu=");
  const std::string chosen = value_of(words, "--id=", "-i");
  for (std::int64_t i = 0; i < *devices; ++i) {
    if (!chosen.empty() && !expand_slurm_host_list(chosen).empty() &&
        !std::ranges::count(expand_slurm_host_list(chosen), std::to_string(i)))
      continue;
    if (query.empty()) {
      if (has(words, "-L") || has(words, "--list-gpus") || words.size() == 1) {
        print(fmt::format("GPU {}: NVIDIA GPU (UUID: GPU-{:032x})\n", i, i));
      }
      continue;
    }
    const std::string format = value_of(words, "--format=");
    if (i == 0 && format.find("noheader") == std::string::npos) print(query + "\n");
    std::string line;
    for (const std::string& field : expand_slurm_host_list(query)) {
      line += (line.empty() ? "" : ", ") + gpu_field(field, i, *devices);
    }
    print(line + "\n");
  }
  return 0;
}

int answer_rocm_smi(const ScriptCaptureContext& context, const Words& words) {
  const auto devices = context.devices_per_node();
  if (!devices) return ask_for_devices(context, words);
  for (std::int64_t i = 0; i < *devices; ++i) print(fmt::format("GPU[{}]\t\t: AMD GPU\n", i));
  return 0;
}

int answer_scontrol(const ScriptCaptureContext& context, const Words& words) {
  const std::int64_t nodes = nodes_of_job(context);
  const std::string what = words.size() > 2 && words[1] == "show" ? words[2] : "";
  const std::string given = words.size() > 3 ? words[3] : "";
  if (what == "hostnames" || what == "hostname") {
    const std::string list = environment_variable("SLURM_JOB_NODELIST");
    const std::string& shown = given.empty() ? list : given;
    for (const std::string& host :
         shown.empty() ? placeholder_host_names(nodes) : expand_slurm_host_list(shown)) {
      print(host + "\n");
    }
  } else if (what == "hostlist" || what == "hostlistsorted") {
    print(given + "\n");
  } else if (what == "job" || what == "jobid" || what == "jobs") {
    const std::string id = environment_variable("SLURM_JOB_ID");
    const std::string command = context.scripts.empty() ? "(null)" : context.scripts.back();
    print(
        fmt::format("JobId={} JobName={}\n   JobState=RUNNING TimeLimit=UNLIMITED\n   NodeList={}\n"
                    "   BatchHost=node001\n   NumNodes={}\n   Command={}\n   WorkDir={}\n",
                    id, environment_variable("SLURM_JOB_NAME"), placeholder_host_list(nodes), nodes,
                    command, environment_variable("SLURM_SUBMIT_DIR")));
  } else if (what == "node" || what == "nodes") {
    for (const std::string& host :
         given.empty() ? placeholder_host_names(nodes) : expand_slurm_host_list(given)) {
      const std::string gres = context.devices_per_node()
                                   ? fmt::format("gpu:{}", *context.devices_per_node())
                                   : std::string("(null)");
      print(fmt::format("NodeName={} NodeAddr={} Gres={} State=ALLOCATED\n", host, host, gres));
    }
  }
  return 0;
}

/// Fills in a format of squeue, such as `-o "%N %D"`.
std::string queue_line(const ScriptCaptureContext& context, std::string_view format) {
  const std::int64_t nodes = nodes_of_job(context);
  std::string line;
  for (std::size_t i = 0; i < format.size(); ++i) {
    if (format[i] != '%' || i + 1 == format.size()) {
      line += format[i];
      continue;
    }
    while (++i + 1 < format.size() &&
           (format[i] == '.' || (format[i] >= '0' && format[i] <= '9'))) {
    }
    switch (format[i]) {
      case 'N':
      case 'R': line += placeholder_host_list(nodes); break;
      case 'D': line += std::to_string(nodes); break;
      case 'i':
      case 'A': line += environment_variable("SLURM_JOB_ID"); break;
      case 'j': line += environment_variable("SLURM_JOB_NAME"); break;
      case 'T': line += "RUNNING"; break;
      case 't': line += "R"; break;
      default: line += "N/A"; break;
    }
  }
  return line;
}

/// Prints the job's line if squeue runs inside the job; no line outside, where all jobs have ended.
int answer_squeue(const ScriptCaptureContext& context, const Words& words) {
  const std::string standard = "%i %P %j %u %t %M %D %R";
  std::string format = value_of(words, "--format=", "-o");
  if (format.empty()) format = value_of(words, "-o");
  if (format.empty()) format = standard;
  if (!has(words, "-h") && !has(words, "--noheader")) {
    print("JOBID PARTITION NAME USER ST TIME NODES NODELIST(REASON)\n");
  }
  if (!environment_variable("SLURM_JOB_ID").empty()) print(queue_line(context, format) + "\n");
  return 0;
}

int answer_hostname(const ScriptCaptureContext& context, const Words& words) {
  if (!context.allocation) return real_or_nothing(context, words);
  const std::string option = words.size() > 1 ? words[1] : "";
  const bool address = option == "-i" || option == "-I" || option == "--ip-address" ||
                       option == "--all-ip-addresses";
  print(address ? "10.0.0.1\n" : "node001\n");
  return 0;
}

int answer_nproc(const ScriptCaptureContext& context, const Words& words) {
  if (!context.allocation || !context.allocation->cpus_per_task) {
    return real_or_nothing(context, words);
  }
  print(environment_variable("SLURM_CPUS_ON_NODE") + "\n");
  return 0;
}

}  // namespace

int emulate_device_count_query(const ScriptCaptureContext& context, const Words& words) {
  const auto devices = context.devices_per_node();
  if (!devices) return exec_real_program(context, words);
  print(fmt::format("{}\n", *devices));
  return 0;
}

int emulate_scheduler_query(const ScriptCaptureContext& context, const Words& words) {
  const std::string_view name = launch_scripts::last_path_part(words.front());
  if (name == "nvidia-smi") return answer_nvidia_smi(context, words);
  if (name == "rocm-smi" || name == "amd-smi") return answer_rocm_smi(context, words);
  if (name == "scontrol") return answer_scontrol(context, words);
  if (name == "squeue") return answer_squeue(context, words);
  if (name == "hostname") return answer_hostname(context, words);
  if (name == "nproc") return answer_nproc(context, words);
  if (name == "sleep") return ::usleep(kLongestSleepUs) == 0 ? 0 : 1;
  return real_or_nothing(context, words);
}

}  // namespace stepwright::capture

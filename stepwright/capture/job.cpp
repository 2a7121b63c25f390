#include "stepwright/capture/job.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "stepwright/capture/allocation_environment.h"
#include "stepwright/capture/tools.h"
#include "stepwright/core/input_file.h"
#include "stepwright/launch_scripts/text.h"

namespace stepwright::capture {
namespace {

constexpr std::size_t kMostIndices = 10'000;
constexpr std::int64_t kFirstJob = 1'000'001;
constexpr std::int64_t kMostJobs = 100'000;
constexpr std::size_t kLargestScript = 16 << 20;

/// Returns a job number that is unique in the capture; a folder of that name reserves it.
std::int64_t next_job(const std::filesystem::path& folder) {
  std::error_code error;
  for (std::int64_t id = kFirstJob; id < kFirstJob + kMostJobs; ++id) {
    if (std::filesystem::create_directory(folder / fmt::format("job-{}", id), error)) return id;
    if (error) break;
  }
  return kFirstJob;
}

/// Returns the script in `bash -e FILE ARGS` or `./FILE`; empty if there is none.
std::filesystem::path script_in(const Words& words) {
  std::size_t at = 0;
  if (is_shell_program_name(launch_scripts::last_path_part(words.front()))) {
    for (at = 1; at < words.size() && words[at].starts_with('-'); ++at) {
      if (!words[at].starts_with("--") && words[at].find('c') != std::string::npos) return {};
      if (words[at] == "-o" || words[at] == "-O") ++at;
    }
  }
  std::error_code error;
  if (at >= words.size() || !std::filesystem::is_regular_file(words[at], error)) return {};
  return std::filesystem::absolute(words[at], error);
}

void set_if_stated(const std::optional<std::int64_t>& stated, std::optional<std::int64_t>& value) {
  if (stated) value = stated;
}

}  // namespace

std::string read_script_file_text(const std::filesystem::path& path) {
  return read_regular_file(path, kLargestScript).value_or("");
}

void fill_in_batch_job(const ScriptCaptureContext& context, Job& job) {
  BatchJobAllocation& allocation = job.allocation;
  set_if_stated(context.settings.nodes, allocation.nodes);
  set_if_stated(context.settings.devices_per_node, allocation.devices_per_node);
  if (!allocation.nodes) allocation.nodes = 1;
  allocation.job_nodes = allocation.nodes;
  allocation.id = next_job(context.folder);
  if (allocation.name.empty()) {
    allocation.name = job.script.empty() ? "wrap" : job.script.filename().string();
  }
}

void set_batch_job_environment(ScriptCaptureContext& context, const Job& job) {
  context.allocation = job.allocation;
  context.launcher.clear();
  if (!job.script.empty()) context.scripts.push_back(job.script.string());
  for (const auto& [name, value] : batch_job_environment(job.allocation, context.folder)) {
    ::setenv(name.c_str(), value.c_str(), 1);
  }
  export_capture_context(context);
}

std::optional<Job> batch_job_of_command(const ScriptCaptureContext& context, const Words& words) {
  const bool within = !environment_variable("SLURM_JOB_ID").empty() ||
                      !environment_variable("PBS_JOBID").empty() ||
                      !environment_variable("LSB_JOBID").empty();
  const std::filesystem::path script = script_in(words);
  if (within || script.empty()) return std::nullopt;
  const std::string text = read_script_file_text(script);
  std::optional<BatchJobAllocation> allocation = allocation_from_directives(text);
  if (!allocation && context.settings.nodes && text.find("SLURM_") != std::string::npos) {
    allocation = BatchJobAllocation{.scheduler = "slurm"};
  }
  if (!allocation) return std::nullopt;
  Job job{*allocation, script};
  fill_in_batch_job(context, job);
  return job;
}

std::vector<std::string> job_array_task_indices(std::string_view array) {
  std::vector<std::string> indices;
  array = array.substr(0, array.find('%'));
  while (!array.empty()) {
    const std::size_t end = std::min(array.find(','), array.size());
    const std::string part(array.substr(0, end));
    array.remove_prefix(std::min(end + 1, array.size()));
    const std::size_t dash = part.find('-'), colon = part.find(':');
    std::int64_t first = std::atoll(part.c_str()), last = first, step = 1;
    if (dash != std::string::npos) last = std::atoll(part.c_str() + dash + 1);
    if (colon != std::string::npos) step = std::max(1LL, std::atoll(part.c_str() + colon + 1));
    for (; first <= last && indices.size() < kMostIndices; first += step) {
      indices.push_back(std::to_string(first));
    }
  }
  return indices;
}

}  // namespace stepwright::capture

#include "stepwright/capture/carry.h"

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "stepwright/capture/allocation_environment.h"
#include "stepwright/capture/capture_folder.h"
#include "stepwright/capture/carrier.h"
#include "stepwright/capture/go_on.h"
#include "stepwright/capture/launch_event.h"
#include "stepwright/capture/tools.h"
#include "stepwright/core/output_file.h"
#include "stepwright/launch_scripts/text.h"

namespace stepwright::capture {
namespace {

constexpr std::string_view kMpi = "mpirun mpiexec mpiexec.hydra orterun prterun jsrun aprun";
constexpr std::string_view kManagers = "uv poetry pipenv pixi pdm rye hatch conda mamba micromamba";
constexpr std::string_view kContainers =
    "docker nvidia-docker podman nerdctl singularity apptainer";

void set_variables(const std::map<std::string, std::string>& variables) {
  for (const auto& [name, value] : variables) ::setenv(name.c_str(), value.c_str(), 1);
}

std::optional<std::int64_t> count_of(std::span<const GivenCommandOption> options,
                                     std::string_view names) {
  const auto value = last_option_value(options, names);
  const std::int64_t count = value ? std::atoll(value->c_str()) : 0;
  return count > 0 ? std::optional(count) : std::nullopt;
}

/// Enters an srun step. Inside a job it can have fewer nodes than the job; outside it starts a job.
void enter_step(ScriptCaptureContext& context, const WrappedCommand& carried) {
  const bool within = context.allocation && context.allocation->scheduler == "slurm";
  BatchJobAllocation step =
      within ? *context.allocation : BatchJobAllocation{.scheduler = "slurm", .id = 1'000'000};
  const auto tasks_before = step.tasks;
  step.tasks.reset();
  apply_slurm_options(carried.options, step);
  const bool says_nodes = last_option_value(carried.options, "-N --nodes").has_value();
  if (!step.tasks && !says_nodes) step.tasks = tasks_before;
  if (!within) {
    if (context.settings.nodes) step.nodes = context.settings.nodes;
    if (context.settings.devices_per_node)
      step.devices_per_node = context.settings.devices_per_node;
    if (!step.nodes && step.tasks == 1) step.nodes = 1;
    step.job_nodes = step.nodes;
  }
  if (step.name.empty()) step.name = "interactive";
  set_variables(srun_task_environment(step));
  context.allocation = step;
}

/// Sets the variables that Open MPI, MPICH and Intel MPI set for the first rank.
void enter_mpi(const ScriptCaptureContext& context, const WrappedCommand& carried) {
  std::map<std::string, std::string> variables = {{"OMPI_COMM_WORLD_RANK", "0"},
                                                  {"OMPI_COMM_WORLD_LOCAL_RANK", "0"},
                                                  {"OMPI_COMM_WORLD_NODE_RANK", "0"},
                                                  {"PMIX_RANK", "0"},
                                                  {"PMI_RANK", "0"},
                                                  {"MPI_LOCALRANKID", "0"}};
  std::optional<std::int64_t> each = count_of(
      carried.options, "-npernode --npernode -ppn --ppn -perhost --perhost -N -r --rs_per_host");
  std::optional<std::int64_t> size = count_of(carried.options, "-np --np -n --n -c --nrs");
  if (context.allocation) {
    const BatchJobAllocation& job = *context.allocation;
    if (!each) each = job.tasks_per_node;
    if (!size) size = job.tasks;
    if (!size && each && job.nodes) size = *each * *job.nodes;
  }
  if (size) {
    variables["OMPI_COMM_WORLD_SIZE"] = variables["PMI_SIZE"] = std::to_string(*size);
  }
  if (each) {
    variables["OMPI_COMM_WORLD_LOCAL_SIZE"] = variables["MPI_LOCALNRANKS"] = std::to_string(*each);
  }
  set_variables(variables);
}

/// Changes to the folder that an option names, if there is one.
void enter_folder(std::string_view name, const WrappedCommand& carried) {
  std::string_view names = "--directory";
  if (name == "srun") names = "-D --chdir";
  if (word_list_contains(kMpi, name)) names = "-wd --wd -wdir --wdir";
  if (word_list_contains(kContainers, name)) names = "-w --workdir --pwd --cwd";
  if (const auto folder = last_option_value(carried.options, names)) {
    [[maybe_unused]] const int ignored = ::chdir(folder->c_str());
  }
}

/// Handles a carrier that has no command after its options.
int carry_nothing(const ScriptCaptureContext& context, const Words& words, bool has_image) {
  const std::string_view name = launch_scripts::last_path_part(words.front());
  const std::string_view what = words.size() > 1 ? std::string_view(words[1]) : "";
  if (word_list_contains(kManagers, name)) {
    if (!context.is_file_writing_disabled() && !find_real_program(context, name).empty())
      return exec_real_program(context, words);
  }
  const bool starts = (name == "kubectl" && (what == "apply" || what == "create")) ||
                      (name == "srun" && words.size() > 1) ||
                      (what == "compose" && std::ranges::find(words, "up") != words.end()) ||
                      (name == "docker-compose" && what == "up") || has_image;
  if (starts) {
    record_launch_command(context, words);
    return 0;
  }
  if (name == "ray" && what == "start") write_file(context.folder / kRayStartedMarkerFile, "\n");
  record_skipped_command(context, words);
  return 0;
}

std::string joined(std::span<const std::string> words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

/// Returns the command after a carrier as words to execute.
Words command_of(const Words& words, const WrappedCommand& carried, std::size_t from) {
  Words command(words.begin() + static_cast<std::ptrdiff_t>(from), words.end());
  if (carried.as_text) return {"bash", "-c", joined(command)};
  if (const auto entry = last_option_value(carried.options, "--entrypoint")) {
    if (!entry->empty()) command.insert(command.begin(), *entry);
  }
  // `uv run -m MODULE` runs a Python module.
  if (last_option_value(carried.options, "-m --module") &&
      launch_scripts::last_path_part(words.front()) == "uv") {
    command.insert(command.begin(),
                   {"python", "-m", *last_option_value(carried.options, "-m --module")});
  }
  return command;
}

}  // namespace

int run_command_inside_carrier(ScriptCaptureContext context, const Words& words) {
  const std::string_view name = launch_scripts::last_path_part(words.front());
  const auto carried = find_wrapped_command(words);
  if (!carried) return carry_nothing(context, words, false);
  std::size_t from = carried->program;
  while (name == "sudo" && from < words.size() && words[from].find('=') != std::string::npos)
    ++from;
  const bool reads_input = carried->from_input && ::isatty(STDIN_FILENO) == 0 &&
                           !last_option_value(carried->options, "-N") && words.size() > 1;
  if (from >= words.size() && !reads_input) {
    const bool has_image = word_list_contains(kContainers, name) && words.size() > 2 &&
                           (words[1] == "run" || words[1] == "exec");
    return carry_nothing(context, words, has_image);
  }
  Words front(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(from));
  context.launcher.insert(context.launcher.end(), front.begin(), front.end());
  if (carried->remote && !context.is_file_writing_disabled())
    add_file_writer_stand_ins(context.folder);
  context.remote = context.remote || carried->remote;
  for (std::size_t i = carried->program; i < from; ++i) {
    const std::size_t equals = words[i].find('=');
    ::setenv(words[i].substr(0, equals).c_str(), words[i].substr(equals + 1).c_str(), 1);
  }
  if (name == "srun") enter_step(context, *carried);
  if (word_list_contains(kMpi, name)) enter_mpi(context, *carried);
  set_variables(carried->environment);
  enter_folder(name, *carried);
  if (from >= words.size()) return exec_wrapped_command(context, {"bash"});
  return exec_wrapped_command(context, command_of(words, *carried, from));
}

}  // namespace stepwright::capture

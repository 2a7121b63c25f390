#include "stepwright/launch_scripts/shell/job.h"

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "stepwright/launch_scripts/batch/extent_environment.h"
#include "stepwright/launch_scripts/shell/reader.h"

namespace stepwright::launch_scripts {
namespace {

/// Effort counted for reading one option of a batch system, in characters.
constexpr std::size_t kWorkOfOption = 200;

}  // namespace

bool is_training_launcher_program(std::string_view program) {
  static constexpr std::array<std::string_view, 10> kLaunchers = {
      "python", "python3", "torchrun", "accelerate", "deepspeed",
      "mpirun", "swift",   "megatron", "axolotl",    "llamafactory-cli"};
  return is_one_of(program, kLaunchers);
}

std::vector<ShellWord> batch_submission_part(const std::vector<ShellWord>& words) {
  for (auto word = words.begin(); word != words.end(); ++word) {
    if (scheduler_of_submission_program(path_base_name(word->text), {}).empty()) continue;
    return {word, words.end()};
  }
  return {};
}

void add_job_exported_variables(const std::vector<ShellWord>& submission,
                                std::map<std::string, ShellWord>& environment) {
  for (std::size_t i = 0; i < submission.size(); ++i) {
    const std::string& text = submission[i].text;
    const bool joined = text.starts_with("--export=");
    const bool apart =
        (text == "-v" || text == "--export" || text == "-env") && i + 1 < submission.size();
    if (!joined && !apart) continue;
    const std::string list = joined ? text.substr(text.find('=') + 1) : submission[i + 1].text;
    for (std::size_t at = 0; at < list.size();) {
      const std::size_t end = std::min(list.find(',', at), list.size());
      const std::string one = list.substr(at, end - at);
      at = end + 1;
      const std::size_t equals = one.find('=');
      if (equals == std::string::npos || !is_shell_name(one.substr(0, equals))) continue;
      ShellWord value = submission[i];
      value.text = one.substr(equals + 1);
      environment[one.substr(0, equals)] = std::move(value);
    }
  }
}

/// Starts the batch job that a text's directives and the command that submits it request, and sets
/// the variables that the scheduler would. Directives are ignored in a script that runs inside a
/// job.
void ShellInterpreter::enter_job(std::string_view text, const Words& submission) {
  budget_.count_processed_characters(text.size(), place(1));
  const bool submitted = !submission.empty();
  if (job_ != nullptr && !submitted) return;
  std::optional<BatchJobAllocation> asked =
      allocation_from_directives(text_without_placeholders(text));
  if (submitted) {
    BatchWords words;
    for (const ShellWord& word : submission) words.push_back(text_without_placeholders(word.text));
    const std::string program = path_base_name(words.front());
    words.erase(words.begin());
    const bool step = program == "srun";
    if (!asked)
      asked =
          BatchJobAllocation{.scheduler = std::string(
                                 step ? "slurm" : scheduler_of_submission_program(program, words))};
    apply_batch_scheduler_options(words, *asked);
  }
  for (const char* name : {"SLURM_NNODES", "SLURM_JOB_NUM_NODES"}) {
    const auto said = given_.variables.find(name);
    if (said == given_.variables.end()) continue;
    if (!asked) asked = BatchJobAllocation{.scheduler = "slurm"};
    if (const auto nodes = shell_integer(said->second)) asked->nodes = nodes;
  }
  if (!asked) return;
  budget_.count_processed_characters(kWorkOfOption * (1 + asked->options.size()), place(1));
  job_ = std::make_shared<const BatchJobAllocation>(std::move(*asked));
  set_job_variables(submitted);
}

void ShellInterpreter::set_job_variables(bool submitted) {
  const auto keep = [this](std::string_view name, const std::string& lines) {
    host_files_[std::string(name)] = lines;
    return std::string(name);
  };
  for (const auto& [name, value] : job_size_environment(*job_, keep)) {
    budget_.count_expanded_word(value, place(1));
    if (submitted || variables_.find(name) == nullptr) variables_.set_text(name, value, {});
    // Slurm sets the visible devices, but programs without a launcher see these devices anyway.
    if (name != "CUDA_VISIBLE_DEVICES") variables_.mark_exported(name);
  }
}

}  // namespace stepwright::launch_scripts

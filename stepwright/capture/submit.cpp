#include "stepwright/capture/submit.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "stepwright/capture/event.h"
#include "stepwright/capture/go_on.h"
#include "stepwright/capture/job.h"
#include "stepwright/capture/launch_event.h"
#include "stepwright/capture/tools.h"
#include "stepwright/core/output_file.h"
#include "stepwright/launch_scripts/text.h"

namespace stepwright::capture {
namespace {

constexpr std::size_t kMostTasks = 16;

/// A submitted job and the command that it runs.
struct Submission {
  Job job;
  Words command;  ///< Words that run the batch script on the first node.
  SplitCommandOptions options;
};

/// Returns the scheduler of a submission. qsub belongs to PBS and to Grid Engine: the script's
/// directives or the options decide.
std::string scheduler_of(const Words& words) {
  const std::string_view name = launch_scripts::last_path_part(words.front());
  const std::string_view said = launch_scripts::scheduler_of_submission_program(name, words);
  if (name != "qsub" || said == "sge") return std::string(said.empty() ? "slurm" : said);
  std::error_code error;
  for (std::size_t i = 1; i < words.size(); ++i) {
    if (!std::filesystem::is_regular_file(words[i], error)) continue;
    if (const auto directives = allocation_from_directives(read_script_file_text(words[i])))
      return directives->scheduler;
  }
  return std::string(said);
}

/// Saves a script from standard input to a file.
std::filesystem::path script_from_input(const ScriptCaptureContext& context) {
  const std::filesystem::path path =
      context.folder / fmt::format("input-{}.sh", static_cast<long>(::getpid()));
  write_file(path, std::string(std::istreambuf_iterator<char>(std::cin),
                               std::istreambuf_iterator<char>()));
  return path;
}

/// Returns the command that runs a script: its interpreter, the script and the arguments.
Words script_command(const std::filesystem::path& script, const Words& arguments) {
  Words command = split_shell_words(script_interpreter_line(script));
  if (!command.empty() && launch_scripts::last_path_part(command.front()) == "env")
    command.erase(command.begin());
  if (command.empty()) command = {"bash"};
  command.push_back(script.string());
  command.insert(command.end(), arguments.begin(), arguments.end());
  return command;
}

Submission submission_of(const ScriptCaptureContext& context, const Words& words) {
  Submission submission;
  const Words arguments(words.begin() + 1, words.end());
  BatchJobAllocation line{.scheduler = scheduler_of(words)};
  const std::size_t rest = apply_batch_scheduler_options(arguments, line, &submission.options);
  const auto wrapped = last_option_value(submission.options.options, "--wrap");
  std::filesystem::path script;
  if (wrapped) {
    submission.command = {"bash", "-c", *wrapped};
  } else if (rest >= arguments.size()) {
    script = script_from_input(context);
    submission.command = script_command(script, {});
  } else {
    std::error_code error;
    const bool file = std::filesystem::is_regular_file(arguments[rest], error);
    const Words behind(arguments.begin() + static_cast<std::ptrdiff_t>(rest), arguments.end());
    const bool is_script = file && line.scheduler != "lsf";
    if (is_script) {
      script = std::filesystem::absolute(arguments[rest], error);
      submission.command = script_command(script, Words(behind.begin() + 1, behind.end()));
    } else {
      if (file) script = std::filesystem::absolute(arguments[rest], error);
      submission.command = behind;
    }
  }
  BatchJobAllocation& allocation = submission.job.allocation;
  allocation = BatchJobAllocation{.scheduler = line.scheduler};
  if (!script.empty()) {
    const auto said = allocation_from_directives(read_script_file_text(script));
    if (said && said->scheduler == line.scheduler) allocation = *said;
  }
  apply_batch_scheduler_options(arguments, allocation);
  submission.job.script = script;
  return submission;
}

/// Sets the variables of `--export=ALL,A=1` and of PBS's `-v A=1,B`.
void set_exported(const Submission& submission) {
  const auto list = last_option_value(submission.options.options, "--export -v");
  for (std::size_t at = 0; list && at < list->size();) {
    const std::size_t end = std::min(list->find(',', at), list->size());
    const std::string one = list->substr(at, end - at);
    const std::size_t equals = one.find('=');
    if (equals != std::string::npos && equals > 0) {
      ::setenv(one.substr(0, equals).c_str(), one.substr(equals + 1).c_str(), 1);
    }
    at = end + 1;
  }
}

/// Runs one batch step in this process; its output goes to standard error.
[[noreturn]] void run_step(ScriptCaptureContext context, const Submission& submission,
                           const std::string& index) {
  const int nothing = ::open("/dev/null", O_RDONLY);
  if (nothing >= 0) ::dup2(nothing, STDIN_FILENO);
  ::dup2(STDERR_FILENO, STDOUT_FILENO);
  set_exported(submission);
  if (const auto folder = last_option_value(submission.options.options, "-D --chdir")) {
    [[maybe_unused]] const int ignored = ::chdir(folder->c_str());
  }
  set_batch_job_environment(context, submission.job);
  if (!index.empty()) {
    const std::string id = std::to_string(submission.job.allocation.id);
    for (const char* name :
         {"SLURM_ARRAY_TASK_ID", "PBS_ARRAY_INDEX", "LSB_JOBINDEX", "SGE_TASK_ID"}) {
      ::setenv(name, index.c_str(), 1);
    }
    ::setenv("SLURM_ARRAY_JOB_ID", id.c_str(), 1);
  }
  ::_exit(exec_wrapped_command(context, submission.command));
}

void run_all(const ScriptCaptureContext& context, const Submission& submission) {
  std::vector<std::string> indices = job_array_task_indices(submission.job.allocation.array);
  if (indices.empty()) indices.emplace_back();
  if (indices.size() > kMostTasks) {
    append_capture_text_event(
        context.folder, kNoteEvent,
        fmt::format("The job array of {} has {} tasks; the first {} were followed.",
                    submission.job.allocation.name, indices.size(), kMostTasks));
    indices.resize(kMostTasks);
  }
  for (const std::string& index : indices) {
    std::fflush(nullptr);
    const pid_t child = ::fork();
    if (child == 0) run_step(context, submission, index);
    int status = 0;
    if (child > 0) ::waitpid(child, &status, 0);
  }
}

void print_answer(const Words& words, const BatchJobAllocation& allocation,
                  const SplitCommandOptions& options) {
  std::string text = fmt::format("Submitted batch job {}\n", allocation.id);
  if (last_option_value(options.options, "--parsable")) text = fmt::format("{}\n", allocation.id);
  if (allocation.scheduler == "pbs") text = fmt::format("{}.pbs\n", allocation.id);
  if (allocation.scheduler == "lsf") {
    text = fmt::format("Job <{}> is submitted to default queue <normal>.\n", allocation.id);
  }
  if (allocation.scheduler == "sge") {
    text = fmt::format("Your job {} (\"{}\") has been submitted\n", allocation.id, allocation.name);
  }
  if (launch_scripts::last_path_part(words.front()) == "salloc") return;
  std::fputs(text.c_str(), stdout);
  std::fflush(stdout);
}

bool names_missing_script(const Submission& submission) {
  return submission.job.allocation.scheduler != "lsf" && submission.job.script.empty() &&
         !submission.command.empty() && submission.command.front() != "bash";
}

}  // namespace

int emulate_batch_submission(ScriptCaptureContext context, const Words& words) {
  const bool interactive = launch_scripts::last_path_part(words.front()) == "salloc";
  if (interactive && ::isatty(STDIN_FILENO) != 0) {
    record_skipped_command(context, words);
    return 0;
  }
  Submission submission = submission_of(context, words);
  fill_in_batch_job(context, submission.job);
  if (interactive) {
    set_exported(submission);
    set_batch_job_environment(context, submission.job);
    return exec_wrapped_command(context, submission.command);
  }
  if (names_missing_script(submission)) {
    print_error_line(fmt::format("{}: error: Unable to open file {}", words.front(),
                                 submission.command.front()));
    return 1;
  }
  const std::string script = submission.job.script.string();
  if (!script.empty() && std::ranges::find(context.scripts, script) != context.scripts.end()) {
    record_skipped_command(context, words);
  } else {
    run_all(context, submission);
  }
  print_answer(words, submission.job.allocation, submission.options);
  return 0;
}

}  // namespace stepwright::capture

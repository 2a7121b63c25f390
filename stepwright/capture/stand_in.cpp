#include "stepwright/capture/stand_in.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <string>
#include <string_view>

#include "stepwright/capture/answer.h"
#include "stepwright/capture/carry.h"
#include "stepwright/capture/context.h"
#include "stepwright/capture/event.h"
#include "stepwright/capture/go_on.h"
#include "stepwright/capture/job.h"
#include "stepwright/capture/keeper.h"
#include "stepwright/capture/launch_event.h"
#include "stepwright/capture/launch_tool.h"
#include "stepwright/capture/processes.h"
#include "stepwright/capture/python_command.h"
#include "stepwright/capture/submit.h"
#include "stepwright/capture/tools.h"
#include "stepwright/capture/wrapper.h"
#include "stepwright/core/quoting.h"
#include "stepwright/launch_scripts/text.h"

namespace stepwright::capture {
namespace {

/// Names of stand-ins that the shell's start-up file calls to report.
constexpr std::string_view kTooDeepName = "stepwright-too-deep";
constexpr std::string_view kNotRunName = "stepwright-not-run";
constexpr std::string_view kRanName = "stepwright-ran";

/// Returns the words as a person wrote them, with the path of the replaced program instead of the
/// stand-in's path.
Words as_written(const ScriptCaptureContext& context, Words words) {
  const std::string real = environment_variable(kReplacedProgramPathVariable);
  if (!real.empty() &&
      launch_scripts::last_path_part(real) == launch_scripts::last_path_part(words.front())) {
    words.front() = real;
  } else if (words.front().starts_with(context.folder.string())) {
    words.front() = launch_scripts::last_path_part(words.front());
  }
  return words;
}

int idle(const ScriptCaptureContext& context, const Words& words) {
  record_skipped_command(context, as_written(context, words));
  return 0;
}

int launch(const ScriptCaptureContext& context, const Words& words) {
  const Words written = as_written(context, words);
  if (is_training_command(written)) {
    record_launch_command(context, written);
  } else {
    record_skipped_command(context, written);
  }
  return 0;
}

int python(const ScriptCaptureContext& context, const Words& words) {
  switch (python_command_treatment(words)) {
    case PythonCommandTreatment::kLaunch:
      record_launch_command(context, as_written(context, words));
      return 0;
    case PythonCommandTreatment::kFollow:
      if (!increment_script_depth(context, words.front())) return kCaptureStoppedExit;
      return exec_real_program(
          context,
          python_command_with_stand_in(
              words,
              (context.folder / "bin" / launch_scripts::last_path_part(words.front())).string()));
    case PythonCommandTreatment::kNothing: return idle(context, words);
    case PythonCommandTreatment::kDevices: return emulate_device_count_query(context, words);
    case PythonCommandTreatment::kWriter:
      if (context.is_file_writing_disabled()) return idle(context, words);
      break;
    case PythonCommandTreatment::kRun: break;
  }
  return exec_real_program(context, words);
}

/// True if all paths among the arguments are inside the capture's scratch folder.
bool stays_in_scratch(const ScriptCaptureContext& context, const Words& words) {
  const std::string scratch = (context.folder / "scratch").string();
  bool any = false;
  for (std::size_t i = 1; i < words.size(); ++i) {
    if (words[i].starts_with('-')) continue;
    std::error_code error;
    const std::filesystem::path path =
        std::filesystem::weakly_canonical(std::filesystem::absolute(words[i], error), error);
    if (error || !path.string().starts_with(scratch + "/")) return false;
    any = true;
  }
  return any;
}

/// Copies input to output, as `tee` still must when it writes no files.
int copy_input() {
  char block[1 << 16];
  for (ssize_t got; (got = ::read(STDIN_FILENO, block, sizeof block)) > 0;) {
    for (ssize_t sent = 0; sent < got;) {
      const ssize_t wrote =
          ::write(STDOUT_FILENO, block + sent, static_cast<std::size_t>(got - sent));
      if (wrote <= 0) return 1;
      sent += wrote;
    }
  }
  return 0;
}

int write_nothing(const ScriptCaptureContext& context, const Words& words) {
  if (!context.is_file_writing_disabled() || stays_in_scratch(context, words))
    return exec_real_program(context, words);
  record_skipped_command(context, as_written(context, words));
  return launch_scripts::last_path_part(words.front()) == "tee" ? copy_input() : 0;
}

/// True if a script for sh, or its text after -c, changes PATH, which a capture cannot undo in sh.
bool changes_path(const Words& words) {
  return std::ranges::any_of(words, [](const std::string& word) {
    std::error_code error;
    const bool file = word.size() < 4096 && std::filesystem::is_regular_file(word, error);
    const std::string text = file ? read_script_file_text(word) : word;
    return text.find("PATH=") != std::string::npos || text.find("activate") != std::string::npos;
  });
}

int shell(const ScriptCaptureContext& context, Words words) {
  if (!increment_script_depth(context, words.size() > 1 ? words[1] : words[0]))
    return kCaptureStoppedExit;
  const std::string_view name = launch_scripts::last_path_part(words.front());
  if ((name == "sh" || name == "dash" || name == "ash") && changes_path(words)) words[0] = "bash";
  return exec_real_program(context, words);
}

/// Returns the words of a command for another program to execute, and clears the variable with the
/// replaced path, which that program must not take for its own.
Words taken_over(const ScriptCaptureContext& context, const Words& words) {
  Words written = as_written(context, words);
  ::unsetenv(kReplacedProgramPathVariable);
  return written;
}

int act(const ScriptCaptureContext& context, ProgramStandInKind kind, const Words& words) {
  switch (kind) {
    case ProgramStandInKind::kLaunch: return launch(context, words);
    case ProgramStandInKind::kPython: return python(context, words);
    case ProgramStandInKind::kCarrier:
      return run_command_inside_carrier(context, taken_over(context, words));
    case ProgramStandInKind::kSubmit:
      return emulate_batch_submission(context, taken_over(context, words));
    case ProgramStandInKind::kAnswer: return emulate_scheduler_query(context, words);
    case ProgramStandInKind::kIdle: return idle(context, words);
    case ProgramStandInKind::kWrapper:
      return exec_real_program(context, rewrite_wrapper_command_for_capture(context, words));
    case ProgramStandInKind::kShell: return shell(context, words);
    case ProgramStandInKind::kWriter: return write_nothing(context, words);
  }
  return kCaptureStoppedExit;
}

int report(const ScriptCaptureContext& context, std::string_view name, Words words) {
  words.erase(words.begin());
  if (name == kTooDeepName) {
    append_capture_error_event(context.folder,
                               (words.empty() ? std::string("bash") : words.front()) +
                                   ": calls itself, or others in a circle, more than " +
                                   std::to_string(kMaxScriptNestingDepth) +
                                   " times; make the script end its recursion");
  } else if (name == kNotRunName) {
    record_skipped_command(context, words);
  } else {
    append_capture_text_event(context.folder, kLauncherRanCaptureEvent, quoted_for_shell(words));
  }
  return 0;
}

}  // namespace

std::optional<int> run_launcher_stand_in(int argc, char** argv) {
  if (argc < 1 || std::getenv(kCaptureFolderVariable) == nullptr) return std::nullopt;
  const std::string_view name = launch_scripts::last_path_part(argv[0]);
  const auto kind = find_stand_in_kind(name);
  const bool reports = name == kTooDeepName || name == kNotRunName || name == kRanName;
  if (!kind && !reports && name != kSupervisorProgramName) return std::nullopt;
  open_closed_standard_descriptors();
  try {
    Words words(argv, argv + argc);
    const std::optional<ScriptCaptureContext> context = read_capture_context();
    if (!context) {
      print_error_line(fmt::format("{}: the capture that it ran in has ended", argv[0]));
      return kCaptureStoppedExit;
    }
    if (name == kSupervisorProgramName)
      return run_supervised_script(*context, Words(words.begin() + 1, words.end()));
    if (reports) return report(*context, name, std::move(words));
    return act(*context, *kind, words);
  } catch (const std::exception& error) {
    print_error_line(fmt::format("{}: stepwright capture: {}", argv[0], error.what()));
    return kCaptureStoppedExit;
  }
}

}  // namespace stepwright::capture

#include "stepwright/capture/go_on.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "stepwright/capture/event.h"
#include "stepwright/capture/launch_event.h"
#include "stepwright/capture/tools.h"
#include "stepwright/core/input_file.h"
#include "stepwright/core/utf8.h"
#include "stepwright/launch_scripts/text.h"

namespace stepwright::capture {
namespace {

constexpr std::array<std::string_view, 5> kSystemFolders = {"/bin", "/usr/bin", "/sbin",
                                                            "/usr/sbin", "/usr/local/bin"};

bool is_runnable(const std::filesystem::path& path) {
  std::error_code error;
  return std::filesystem::is_regular_file(path, error) && ::access(path.c_str(), X_OK) == 0;
}

/// Returns the path of the stand-in for a program; empty if it has none, or if it only writes files
/// and the capture permits that.
std::filesystem::path stand_in_for(const ScriptCaptureContext& context, std::string_view name) {
  const auto kind = find_stand_in_kind(name);
  if (!kind) return {};
  if (*kind != ProgramStandInKind::kWriter) return context.folder / "bin" / name;
  return context.is_file_writing_disabled() ? context.folder / "writers" / name
                                            : std::filesystem::path();
}

int run_script(const ScriptCaptureContext& context, const std::filesystem::path& file,
               const Words& words) {
  const std::string line = script_interpreter_line(file);
  Words interpreter = split_shell_words(line);
  if (interpreter.size() > 1 && launch_scripts::last_path_part(interpreter.front()) == "env") {
    interpreter.erase(interpreter.begin());
    if (interpreter.front() == "-S" && interpreter.size() > 1)
      interpreter.erase(interpreter.begin());
  }
  if (interpreter.empty()) return exec_program_or_exit_code(file, words);
  const std::string program(launch_scripts::last_path_part(interpreter.front()));
  if (program.starts_with("python")) {
    record_launch_command(context, words);
    return 0;
  }
  if (!is_shell_program_name(program) && is_runnable(file))
    return exec_program_or_exit_code(file, words);
  const std::filesystem::path link = context.folder / "bin" / program;
  interpreter.push_back(file.string());
  interpreter.insert(interpreter.end(), words.begin() + 1, words.end());
  return find_stand_in_kind(program) ? exec_program_or_exit_code(link, interpreter)
                                     : exec_real_program(context, interpreter);
}

}  // namespace

bool increment_script_depth(const ScriptCaptureContext& context, std::string_view program) {
  const int depth = std::atoi(environment_variable(kScriptDepthVariable).c_str()) + 1;
  ::setenv(kScriptDepthVariable, std::to_string(depth).c_str(), 1);
  if (depth <= kMaxScriptNestingDepth) return true;
  append_capture_error_event(context.folder,
                             fmt::format("{}: calls itself, or others in a circle, more than {} "
                                         "times; make the script end its recursion",
                                         program, kMaxScriptNestingDepth));
  return false;
}

void print_error_line(std::string_view text) {
  const std::string line = terminal_safe_text(text) + "\n";
  std::fputs(line.c_str(), stderr);
}

int exec_program_or_exit_code(const std::filesystem::path& program, const Words& words) {
  std::vector<char*> argv;
  argv.reserve(words.size() + 1);
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  ::execv(program.c_str(), argv.data());
  const int error = errno;
  print_error_line(fmt::format("{}: {}", program.string(), std::strerror(error)));
  return error == ENOENT ? kCommandNotFoundExitCode : kNotExecutableExit;
}

std::filesystem::path find_real_program(const ScriptCaptureContext& context,
                                        std::string_view name) {
  const std::string path = environment_variable("PATH");
  for (std::size_t at = 0; at <= path.size();) {
    const std::size_t end = std::min(path.find(':', at), path.size());
    const std::filesystem::path folder = path.substr(at, end - at);
    at = end + 1;
    if (folder.string().starts_with(context.folder.string())) continue;
    const std::filesystem::path candidate = (folder.empty() ? "." : folder) / name;
    if (is_runnable(candidate)) return candidate;
  }
  return {};
}

int exec_real_program(const ScriptCaptureContext& context, const Words& words) {
  const std::string real = environment_variable(kReplacedProgramPathVariable);
  const bool is_meant =
      launch_scripts::last_path_part(real) == launch_scripts::last_path_part(words.front());
  if (is_meant) ::unsetenv(kReplacedProgramPathVariable);
  std::filesystem::path program = words.front();
  if (is_meant && is_runnable(real)) {
    program = real;
  } else if (words.front().find('/') == std::string::npos || !is_runnable(program) ||
             words.front().starts_with(context.folder.string())) {
    program = find_real_program(context, launch_scripts::last_path_part(words.front()));
  }
  if (program.empty()) {
    print_error_line(fmt::format("{}: command not found", words.front()));
    return kCommandNotFoundExitCode;
  }
  return exec_program_or_exit_code(program, words);
}

std::string script_interpreter_line(const std::filesystem::path& file) {
  constexpr std::size_t kLongestLine = 4096;
  const std::string start = read_first_bytes_of_regular_file(file, kLongestLine).value_or("");
  if (!start.starts_with("#!")) return "";
  return start.substr(2, start.find('\n') - 2);
}

int exec_wrapped_command(const ScriptCaptureContext& context, const Words& words) {
  if (words.empty()) return 0;
  if (!increment_script_depth(context, words.front())) return kCaptureStoppedExit;
  export_capture_context(context);
  const std::string_view name = launch_scripts::last_path_part(words.front());
  const bool has_folder = name.size() != words.front().size();
  if (const std::filesystem::path link = stand_in_for(context, name); !link.empty()) {
    if (has_folder) ::setenv(kReplacedProgramPathVariable, words.front().c_str(), 1);
    return exec_program_or_exit_code(link, words);
  }
  if (is_shell_program_name(name)) return exec_real_program(context, words);
  const std::filesystem::path program =
      has_folder ? std::filesystem::path(words.front()) : find_real_program(context, name);
  std::error_code error;
  const bool exists = !program.empty() && std::filesystem::is_regular_file(program, error);
  if (exists && !script_interpreter_line(program).empty() && !name.ends_with(".py")) {
    return run_script(context, program, words);
  }
  const std::string folder = program.parent_path().string();
  const bool of_system = std::ranges::find(kSystemFolders, folder) != kSystemFolders.end();
  if (exists && of_system && is_runnable(program)) return exec_program_or_exit_code(program, words);
  record_launch_command(context, words);
  return 0;
}

}  // namespace stepwright::capture

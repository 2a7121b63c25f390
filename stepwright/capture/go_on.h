#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "stepwright/capture/captured.h"
#include "stepwright/capture/context.h"

namespace stepwright::capture {

/// Exit codes. 127: a program is missing, 126: a file is not executable (both as in a shell), 125:
/// a stand-in stops the capture.
inline constexpr int kCommandNotFoundExitCode = 127, kNotExecutableExit = 126,
                     kCaptureStoppedExit = 125;

/// Replaces this process by the command that a carrier (srun, docker, ...) would run. Programs that
/// have a stand-in, shells, scripts and system programs run; any other program is recorded as a
/// launch. Returns an exit code only if no program was executed.
int exec_wrapped_command(const ScriptCaptureContext& context, const Words& words);

/// Replaces this process by the real program of this path or name, never by a stand-in. Returns 127
/// if there is none, 126 if it cannot be run.
int exec_real_program(const ScriptCaptureContext& context, const Words& words);

/// Returns the path of a real program in PATH, skipping the programs that stand in for it while
/// launches are recorded; empty if there is none.
std::filesystem::path find_real_program(const ScriptCaptureContext& context, std::string_view name);

/// Writes a line to standard error, with control characters escaped.
void print_error_line(std::string_view text);

/// Replaces this process by a program (execve). Returns 126 or 127 if that fails.
int exec_program_or_exit_code(const std::filesystem::path& program, const Words& words);

/// Returns the interpreter line of a script file, without its "#!"; empty if the file has none.
std::string script_interpreter_line(const std::filesystem::path& file);

/// Adds one to the nesting depth of scripts. Returns false beyond `kMaxScriptNestingDepth` and
/// stops the capture with an error that names the program.
bool increment_script_depth(const ScriptCaptureContext& context, std::string_view program);

}  // namespace stepwright::capture

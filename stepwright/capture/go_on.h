#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "stepwright/capture/captured.h"
#include "stepwright/capture/context.h"

namespace stepwright::capture {

/// Exit codes of shells for a missing and a not executable program, and of a stand-in that stops
/// the capture.
inline constexpr int kCommandNotFoundExit = 127, kNotRunnable = 126, kStopped = 125;

/// Runs the command after a carrier, in place of this process. A program with a stand-in runs as
/// its stand-in; shells, their scripts and programs of the system really run; any other program (a
/// binary outside of the system's folders, a missing file) is recorded as a launch. Returns an exit
/// code only if no program was executed.
int exec_wrapped_command(const CaptureContext& context, const Words& words);

/// Executes the real program of this path or name, not a stand-in, in place of this process.
/// Returns 127 if there is none, 126 if it cannot be run.
int exec_real_program(const CaptureContext& context, const Words& words);

/// Returns the path in PATH of the real program, not a stand-in; empty if there is none.
std::filesystem::path find_real_program(const CaptureContext& context, std::string_view name);

/// Writes a line to standard error, with control characters made harmless (`plain_text`).
void print_error_line(std::string_view text);

/// Executes a program in place of this process. Returns 126 or 127 if that fails.
int execute(const std::filesystem::path& program, const Words& words);

/// Returns the interpreter line of a script, after "#!"; empty if the file has none.
std::string interpreter_of(const std::filesystem::path& file);

/// Counts one more level of scripts that call each other. Returns false beyond `kMaxScriptDepth`
/// and stops the capture with an error that names the program.
bool increment_script_depth(const CaptureContext& context, std::string_view program);

}  // namespace stepwright::capture

#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "stepwright/capture/captured.h"
#include "stepwright/capture/context.h"

namespace stepwright::capture {

/// Exit codes of shells, and of a stand-in that stops the capture.
inline constexpr int kNotFound = 127, kNotRunnable = 126, kStopped = 125;

/// Goes on with a command behind a carrier, in place of this process: a stand-in acts where there
/// is one, shells, their scripts and programs of the system really run, and any other program (a
/// binary outside of the system's folders, a file that does not exist) is written down as a launch.
/// Returns an exit code only if nothing was executed in place of this process.
int go_on(const Context& context, const Words& words);

/// Runs a program by its path or name, in place of this process; stand-ins are passed over. Returns
/// 127 if there is none, 126 if it cannot be run.
int run_really(const Context& context, const Words& words);

/// Returns the path of a program in PATH that is no stand-in; empty: there is none.
std::filesystem::path find_real(const Context& context, std::string_view name);

/// Writes a line to standard error, as `plain_text`.
void print_error_line(std::string_view text);

/// Executes a program in place of this process. Returns 126 or 127 if that fails.
int execute(const std::filesystem::path& program, const Words& words);

/// Returns the first line of a script behind "#!"; empty: the file is none.
std::string interpreter_of(const std::filesystem::path& file);

/// Counts one more level of scripts that call each other. Returns false beyond `kDeepest`; the
/// capture then stops with an error that names the program.
bool count_level(const Context& context, std::string_view program);

}  // namespace stepwright::capture

#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "stepwright/cli/command.h"

namespace stepwright::cli {

/// Runs the command that the arguments name (without the program's own name), for programs that
/// have it in them: with `--json` the answer is what the command prints, byte for byte. Fails with
/// `Error`, with `kInput` for wrong arguments; what was answered until then stands in the console.
void run_command(const std::vector<std::string>& arguments, const Console& console);

/// Runs the command that the arguments name, as `run_command` does, but no failure is thrown: its
/// message goes to the log. Returns the exit code of `run_command_line`.
int code_of_run(const std::vector<std::string>& arguments, const Console& console);

/// Runs the command that the arguments name: the answer goes to standard output, everything else to
/// standard error. Returns the exit code: 0 done, 1 failed while running, 2 bad input (wrong
/// arguments too), 3 known but not supported yet. `stand_in` is that of `Console`.
int run_command_line(int argc, char** argv, const std::filesystem::path& stand_in = {});

}  // namespace stepwright::cli

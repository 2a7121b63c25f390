#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "stepwright/cli/command.h"

namespace stepwright::cli {

/// Runs the command that the arguments name (without the program's own name), for programs that
/// embed Stepwright. With `--json` the console receives the same bytes that the command prints.
/// Fails with `Error`, of kind `kInput` for wrong arguments; the console keeps the text written
/// before the failure.
void run_command(const std::vector<std::string>& arguments, const Console& console);

/// Runs the command that the arguments name, as `run_command`, but logs the message of a failure
/// instead of throwing. Returns the exit code of `run_command_line`.
int run_command_exit_code(const std::vector<std::string>& arguments, const Console& console);

/// Runs the command that the arguments name: its answer goes to standard output, all other messages
/// to standard error. Returns the exit code: 0 success, 1 failure while running, 2 wrong input
/// (also wrong arguments), 3 valid input that is not supported yet. `stand_in`: as in `Console`.
int run_command_line(int argc, char** argv, const std::filesystem::path& stand_in = {});

}  // namespace stepwright::cli

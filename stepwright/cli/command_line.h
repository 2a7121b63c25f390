#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "stepwright/cli/command.h"

namespace stepwright::cli {

/// Runs a command from its arguments (without the program's name), for programs that embed
/// Stepwright. The console receives what the command would print. Throws `Error`, of kind `kInput`
/// for wrong arguments; text written before stays in the console.
void run_stepwright_command(const std::vector<std::string>& arguments, const Console& console);

/// Runs a command from its arguments and logs the message of a failure instead of throwing. Returns
/// the exit code: 0 success, 1 failure while running, 2 wrong input, 3 valid input that is not
/// supported yet.
int run_command_exit_code(const std::vector<std::string>& arguments, const Console& console);

/// Runs the program's command line: answers go to standard output, all other messages to standard
/// error. Returns the exit code: 0 success, 1 failure while running, 2 wrong input or arguments, 3
/// valid input that is not supported yet. `stand_in`: program to run in place of captured
/// launchers; empty: this program.
int run_command_line(int argc, char** argv, const std::filesystem::path& stand_in = {});

}  // namespace stepwright::cli

#pragma once

namespace stepwright {

/// Runs the command that the arguments name: the answer goes to standard output, everything else to
/// standard error. Returns the exit code: 0 done, 1 failed while running, 2 bad input (wrong
/// arguments too), 3 known but not supported yet.
int run_command_line(int argc, char** argv);

}  // namespace stepwright

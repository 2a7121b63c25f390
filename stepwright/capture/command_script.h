#pragma once

#include <span>
#include <string>

#include "stepwright/capture/captured.h"

namespace stepwright::capture {

/// Returns a captured command as a bash script in which every value is literal: `#SBATCH` lines
/// with nodes and devices, one `export` for each variable, and the command line. An mpirun that
/// takes its number of processes from the batch job gets it as -np. Readers of launch scripts read
/// the result like a script written by hand.
std::string command_as_script(const CapturedCommand& command);

/// Returns several commands of one job as one script, which starts with the first command's
/// `#SBATCH` lines. A variable that does not have the same value for all commands is set before its
/// command.
std::string command_as_script(std::span<const CapturedCommand> commands);

}  // namespace stepwright::capture

#pragma once

#include <span>
#include <string>

#include "stepwright/capture/captured.h"

namespace stepwright::capture {

/// Returns a recorded launch command as a bash script without variables: `#SBATCH` lines with nodes
/// and devices, one `export` per environment variable, and the command line. An mpirun that takes
/// its number of processes from the batch job gets it as -np.
std::string captured_command_as_script(const CapturedLaunchCommand& command);

/// Returns several recorded launch commands of one job as one bash script, which starts with the
/// first command's `#SBATCH` lines. A variable that differs between the commands is set before each
/// command.
std::string captured_command_as_script(std::span<const CapturedLaunchCommand> commands);

}  // namespace stepwright::capture

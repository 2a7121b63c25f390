#pragma once

#include <string>

#include "stepwright/launch_scripts/captured.h"

namespace stepwright::launch_scripts {

/// Returns a captured command as a bash script that needs no interpretation: `#SBATCH` lines with
/// nodes and devices, one `export` for each variable, and the command line, every word literal;
/// mpirun that takes the number of its processes from the batch job gets it as -np. A reader of
/// launch scripts reads it as the script that a person would have written by hand.
std::string script_of(const CapturedCommand& command);

}  // namespace stepwright::launch_scripts

#pragma once

#include <span>
#include <string>

#include "stepwright/capture/captured.h"

namespace stepwright::capture {

/// Returns a captured command as a bash script that needs no interpretation: `#SBATCH` lines with
/// nodes and devices, one `export` for each variable, and the command line, every word literal;
/// mpirun that takes the number of its processes from the batch job gets it as -np. A reader of
/// launch scripts reads it as the script that a person would have written by hand.
std::string script_of(const CapturedCommand& command);

/// Returns several commands of one job as one script, with the head of the first; a variable that
/// not all have with one value stands in front of its command.
std::string script_of(std::span<const CapturedCommand> commands);

}  // namespace stepwright::capture

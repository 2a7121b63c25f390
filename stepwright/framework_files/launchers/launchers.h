#pragma once

#include <string>
#include <vector>

#include "stepwright/framework_files/draft/draft.h"

namespace stepwright::framework_files {

// Scripts that start a command, given as their arguments, as all ranks of a plan: node by node, so
// that rank = node * devices of a node + device, with the variables that the plan needs.

/// One torchrun on each node.
std::string write_torchrun(const plan::PlannedJob& planned, const std::vector<std::string>& header);
/// A batch script of Slurm that starts one torchrun on each node.
std::string write_slurm(const plan::PlannedJob& planned, const std::vector<std::string>& header);
/// Open MPI's mpirun, one process for each rank.
std::string write_mpirun(const plan::PlannedJob& planned, const std::vector<std::string>& header);

}  // namespace stepwright::framework_files

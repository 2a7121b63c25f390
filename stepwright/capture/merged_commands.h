#pragma once

#include <vector>

#include "stepwright/capture/captured.h"

namespace stepwright::capture {

/// Merges launches that differ only in the host behind ssh or `srun -w` and in the rank of their
/// node
/// (--node_rank, --machine_rank): a loop over hosts is one launch. Launches that name neither are
/// merged if they are equal, environment, folder and files included. The one of rank 0 is kept, or
/// the first; `count` says how many there were, `hosts` how many hosts or ranks. A launch on
/// several hosts has at least as many nodes.
std::vector<CapturedCommand> merged_commands(const std::vector<CapturedCommand>& commands);

}  // namespace stepwright::capture

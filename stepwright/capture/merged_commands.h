#pragma once

#include <vector>

#include "stepwright/capture/captured.h"

namespace stepwright::capture {

/// Merges launches that differ only in the host of ssh or `srun -w` and in the node's rank
/// (--node_rank, --machine_rank), so that a loop over hosts becomes one launch. Launches without
/// host and rank are merged if they are equal, including environment, folder and files. The launch
/// of rank 0 is kept, or else the first; `count` is the number of merged launches, `hosts` the
/// number of different hosts or ranks. A launch on several hosts has at least as many nodes.
std::vector<CapturedCommand> merged_commands(const std::vector<CapturedCommand>& commands);

}  // namespace stepwright::capture

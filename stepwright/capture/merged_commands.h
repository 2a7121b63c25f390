#pragma once

#include <vector>

#include "stepwright/capture/captured.h"

namespace stepwright::capture {

/// Merges recorded launches that are equal or differ only in the host (of ssh or `srun -w`) and the
/// node's rank (--node_rank, --machine_rank), so that a loop over hosts becomes one launch. The
/// launch of rank 0, else the first, is kept; its `count` becomes the number of merged launches,
/// `hosts` the number of different hosts or ranks, and `nodes` at least `hosts`.
std::vector<CapturedLaunchCommand> merge_launches_of_hosts(
    const std::vector<CapturedLaunchCommand>& commands);

}  // namespace stepwright::capture

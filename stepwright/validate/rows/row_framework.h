#pragma once

#include "stepwright/plan/job.h"
#include "stepwright/validate/rows/run_row.h"

namespace stepwright {

/// Name, variant and release ("26.02", "4.1", "2.x") of a row's framework; empty where it is none
/// that is known.
Framework row_framework(const RunRow& row);

/// The kernels that the row's remarks state, or else its framework's on that device.
Kernels row_kernels(const RunRow& row, const Device& device);

/// Which communication overlaps, by the remarks or else the framework. The rest of the plan is
/// settled.
Overlap row_overlap(const RunRow& row, const PlannedJob& planned);

}  // namespace stepwright

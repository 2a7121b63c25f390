#pragma once

#include <nlohmann/json_fwd.hpp>

#include "stepwright/plan/job.h"

namespace stepwright {

/// The words among which a person of the explorer chooses: built-in `models` and `clusters`,
/// `precisions`, `schedules` and `shardings` with what they are, `recompute`.
nlohmann::ordered_json choices_json();

/// The values that each number of a plan can take while the rest of it stays: the sizes that the
/// rules which look at it alone leave over, ascending. And the `devices`, `devices_per_node` and
/// `nodes` there are.
nlohmann::ordered_json sizes_json(const PlannedJob& planned);

}  // namespace stepwright

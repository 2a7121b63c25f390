#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string_view>

#include "stepwright/plan/job.h"

namespace stepwright::explore {

/// True if the number at a place in plan files ("schedule.chunks") has few possible values.
bool has_sizes(std::string_view place);

/// Returns the possible sizes by place in plan files: for each number of a plan, in ascending
/// order, the values that are legal while the rest of the plan stays (by the rules about that
/// number alone); also the cluster's `devices`, `devices_per_node` and `nodes`.
nlohmann::ordered_json sizes_json(const plan::PlannedJob& planned);

}  // namespace stepwright::explore

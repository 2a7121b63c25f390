#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string_view>

#include "stepwright/plan/job.h"

namespace stepwright::explore {

/// Whether the number at a place of plan files ("schedule.chunks") is one of few.
bool has_sizes(std::string_view place);

/// Sizes by place: the ascending values that each number of a plan can take while the rest of the
/// plan stays, by the rules that look at that number alone; and the cluster's `devices`,
/// `devices_per_node` and `nodes`.
nlohmann::ordered_json sizes_json(const plan::PlannedJob& planned);

}  // namespace stepwright::explore

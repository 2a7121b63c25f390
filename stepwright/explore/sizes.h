#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string_view>

#include "stepwright/plan/job.h"

namespace stepwright::explore {

/// True if the explorer's page offers a list of values for this plan field ("schedule.chunks"),
/// because it is a number with few legal values.
bool explorer_offers_value_list(std::string_view place);

/// Returns for each numeric plan field ("schedule.chunks") the ascending list of values that are
/// legal while the other fields stay (by the rules about that field alone); also the values for the
/// cluster's `devices`, `devices_per_node` and `nodes`.
nlohmann::ordered_json legal_field_values_json(const plan::PlannedJob& planned);

}  // namespace stepwright::explore

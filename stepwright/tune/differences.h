#pragma once

#include <optional>
#include <string>
#include <vector>

#include "stepwright/plan/job.h"

namespace stepwright::tune {

/// Returns the fields of the plan file in which two plans of a job differ, each set to the value
/// that `to` has: "recompute=none", as `with_fields` takes them.
std::vector<std::string> fields_to_set(const plan::Job& job, const plan::Plan& from,
                                       const plan::Plan& to);

/// Returns a field of the model, cluster, batch, precision or optimizer in which the job of a plan
/// differs from the job of the search, with both values; nullopt when they differ only in names and
/// sources.
std::optional<std::string> differing_field(const plan::Job& job, const plan::Job& of_plan);

}  // namespace stepwright::tune

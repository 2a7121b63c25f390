#pragma once

#include <optional>
#include <string>
#include <vector>

#include "stepwright/plan/job.h"

namespace stepwright::tune {

/// Returns the plan-file fields in which plan `to` differs from plan `from`, with the values of
/// `to`: "recompute=none".
std::vector<std::string> differing_plan_fields(const plan::Job& job, const plan::Plan& from,
                                               const plan::Plan& to);

/// Describes one field of the model, cluster, batch, precision or optimizer in which job `of_plan`
/// differs from the searched job, with both values; nullopt if they differ only in names and
/// sources.
std::optional<std::string> first_differing_job_field(const plan::Job& job,
                                                     const plan::Job& of_plan);

}  // namespace stepwright::tune

#pragma once

#include "stepwright/plan/job.h"

namespace stepwright::plan {

/// True if a plan is legal. Decides it by doing what the plan asks for (assigning heads to ranks,
/// placing all ranks, cutting groups) instead of by arithmetic, independently of the library's
/// rules. For small plans.
bool can_be_done(const Job& job, const Plan& plan);

}  // namespace stepwright::plan

#pragma once

#include "stepwright/plan/job.h"

namespace stepwright::plan {

/// Whether a plan is legal, decided by doing what it asks for (dealing heads to ranks, laying out
/// all ranks, cutting groups) instead of by arithmetic. Independent of the library's rules; for
/// small plans.
bool can_be_done(const Job& job, const Plan& plan);

}  // namespace stepwright::plan

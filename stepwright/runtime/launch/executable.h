#pragma once

#include "stepwright/plan/job.h"

namespace stepwright::runtime {

/// Fails with `kUnsupported`, naming the field and its value, if a job or plan uses something that
/// the executor does not run yet, so that no other training runs in its place.
void check_executable(const plan::PlannedJob& planned);

}  // namespace stepwright::runtime

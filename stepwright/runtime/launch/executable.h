#pragma once

#include "stepwright/plan/job.h"

namespace stepwright::runtime {

/// Fails with `kUnsupported`, naming the field and its value, for what the executor does not run
/// yet: better no training than another one.
void check_executable(const plan::PlannedJob& planned);

}  // namespace stepwright::runtime

#pragma once

#include "stepwright/plan/job.h"

namespace stepwright::runtime {

/// Fails with `kUnsupported`, naming the field and its value, if the training runtime cannot run a
/// job or plan exactly as written.
void check_runtime_supports_plan(const plan::PlannedJob& planned);

}  // namespace stepwright::runtime

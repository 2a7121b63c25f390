#pragma once

#include <string>
#include <vector>

#include "stepwright/plan/job.h"

namespace stepwright::plan {

/// Remarks for people that hold of whatever is said about a plan: what its reader took differently
/// from how it was written (`Job::notes`), what its step leaves out, pads or only knows as a mean.
std::vector<std::string> plan_notes(const PlannedJob& planned);

/// Names the work of a training method that is not in a plan's figures; empty: all of it is.
std::string method_note(const Job& job);

}  // namespace stepwright::plan

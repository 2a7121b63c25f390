#pragma once

#include <string>
#include <vector>

#include "stepwright/plan/job.h"

namespace stepwright::plan {

/// Returns notes for users on anything said about a plan: values that its reader interpreted
/// differently from how they were written (`Job::notes`), and what its step leaves out, pads or
/// knows only as a mean.
std::vector<std::string> plan_notes(const PlannedJob& planned);

/// Names the work of a training method that a plan's figures do not include; empty: they include
/// all.
std::string method_note(const Job& job);

}  // namespace stepwright::plan

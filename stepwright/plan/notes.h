#pragma once

#include <string>
#include <vector>

#include "stepwright/plan/job.h"

namespace stepwright::plan {

/// Returns all notes for users about a plan: values that were read with another meaning than
/// written (`Job::notes`), and what its step leaves out, pads, or knows only as a mean.
std::vector<std::string> plan_notes(const PlannedJob& planned);

/// Returns text about the work of a training method (rollouts, rewards, ...) that a plan's figures
/// leave out; empty: they include everything.
std::string training_method_note(const Job& job);

}  // namespace stepwright::plan

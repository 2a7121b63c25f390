#pragma once

#include <string>

#include "stepwright/cli/command.h"
#include "stepwright/tune/against.h"

namespace stepwright::cli {

/// A person's own plan for a job. Fails with `kInput` when the file is no legal plan, or one of
/// another model, cluster, batch, precision or optimizer, naming the field; `job_file` is the job's
/// name in messages.
plan::PlannedJob load_own_plan(const std::string& file, const std::string& job_file,
                               const plan::Job& job, const Console& console);

/// A table of changes, one after the other.
std::string changes_text(const std::vector<tune::Change>& changes);

/// The text that `tune --against` prints below its answer: the plan, what is wrong with it, and the
/// changes.
std::string against_text(const tune::TuneResult& result, const tune::Against& against);

}  // namespace stepwright::cli

#pragma once

#include <string>

#include "stepwright/answers/given_file.h"

namespace stepwright::answers {

/// Reads the user's own plan, to be compared with the best plan of a job. Fails with `kInput` if
/// the file is no legal plan, or if the plan's model, cluster, batch, precision or optimizer
/// differs from the job's. `job_file`: name of the job's file in messages.
plan::PlannedJob read_user_plan(const UserFile& file, const std::string& job_file,
                                const plan::Job& job);

}  // namespace stepwright::answers

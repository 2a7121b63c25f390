#pragma once

#include <nlohmann/json_fwd.hpp>

#include "stepwright/core/tree.h"
#include "stepwright/plan/job.h"

namespace stepwright::plan {

/// Writes a job without its version. `expanded`: without short forms, with model and cluster in
/// full.
nlohmann::ordered_json job_json(const Job& job, bool expanded);
/// Writes a plan file. `expanded`: as in `job_json`.
nlohmann::ordered_json plan_file_json(const PlannedJob& planned, bool expanded);
/// Formats a plan as in a file: one line for each value of the plan and of its job; models and
/// clusters have one line for each member.
Tree plan_file_tree(const PlannedJob& planned, bool expanded);

}  // namespace stepwright::plan

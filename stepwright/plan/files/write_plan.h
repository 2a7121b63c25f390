#pragma once

#include <nlohmann/json_fwd.hpp>

#include "stepwright/core/tree.h"
#include "stepwright/plan/job.h"

namespace stepwright::plan {

/// A job without its version. `expanded`: nothing in short form, model and cluster written out.
nlohmann::ordered_json job_json(const Job& job, bool expanded);
/// A plan file. `expanded`: as above.
nlohmann::ordered_json plan_file_json(const PlannedJob& planned, bool expanded);
/// Lays the plan out as in a file: one line for each value of the file and of its job; models and
/// clusters have one for each member.
Tree plan_file_tree(const PlannedJob& planned, bool expanded);

}  // namespace stepwright::plan

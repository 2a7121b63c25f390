#pragma once

#include <nlohmann/json_fwd.hpp>

#include "stepwright/core/tree.h"
#include "stepwright/plan/job.h"

namespace stepwright::plan {

/// Returns a job as JSON, without the key `stepwright`. `expanded`: model and cluster are written
/// in full instead of by name.
nlohmann::ordered_json job_json(const Job& job, bool expanded);
/// Returns a plan file as JSON. `expanded`: model and cluster are written in full instead of by
/// name.
nlohmann::ordered_json plan_file_json(const PlannedJob& planned, bool expanded);
/// Returns a plan file as a YAML tree with one line for each value of the plan and its job; models
/// and clusters have one line for each member.
DocumentTree plan_file_tree(const PlannedJob& planned, bool expanded);

}  // namespace stepwright::plan

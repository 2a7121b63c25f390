#pragma once

#include <nlohmann/json_fwd.hpp>

#include "stepwright/core/document.h"
#include "stepwright/plan/job.h"

namespace stepwright::plan {

/// Reads `adapters` and `frozen` of a job into its model; the job's model, precision and framework
/// must be set. Fails with `kInput` on targets that the model lacks, on a rank below 1 or above a
/// target's width, and on layers that do not exist.
void read_training(Node file, Job& job);

/// Writes `adapters` and `frozen` of a job; writes neither if all weights are trained.
void write_training(nlohmann::ordered_json& file, const Job& job);

}  // namespace stepwright::plan

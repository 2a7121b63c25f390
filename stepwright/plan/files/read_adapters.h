#pragma once

#include <nlohmann/json_fwd.hpp>

#include "stepwright/core/document.h"
#include "stepwright/plan/job.h"

namespace stepwright::plan {

/// Reads `adapters` and `frozen` of a job file into the job's model; model, precision and framework
/// must be set before. Fails with `kInput` on targets or layers that the model lacks, and on a rank
/// below 1 or above a target's width.
void read_adapters_and_frozen_parts(DocumentNode file, Job& job);

/// Adds the keys `adapters` and `frozen` to a job in JSON; neither if all weights are trained.
void write_adapters_and_frozen_parts(nlohmann::ordered_json& file, const Job& job);

}  // namespace stepwright::plan

#pragma once

#include <nlohmann/json_fwd.hpp>

#include "stepwright/core/document.h"
#include "stepwright/plan/job.h"

namespace stepwright::plan {

/// Reads `adapters` and `frozen` of a job, whose model, precision and framework are set, into its
/// model. Fails with `kInput` on targets that the model lacks, on a rank below 1 or above the width
/// of a target, and on layers that it does not have.
void read_training(Node file, Job& job);

/// Writes what it reads; nothing where all is trained.
void write_training(nlohmann::ordered_json& file, const Job& job);

}  // namespace stepwright::plan

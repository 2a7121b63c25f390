#pragma once

#include <filesystem>

#include "stepwright/core/document.h"
#include "stepwright/plan/job.h"

namespace stepwright::plan {

/// Reads `imbalance` of a job file, the unevenness of expert loads; the model must be set before.
/// Allowed: a number of at least 1 (busiest rank / mean), a list of the tokens of each expert, or
/// `{file}` with such a list (JSON, YAML, numbers separated by commas or lines, or a table with
/// columns `tokens` and, if not in order, `expert`). Fails with `kInput` unless each expert has one
/// number, none negative and one above 0.
void read_expert_imbalance(DocumentNode node, const std::filesystem::path& directory, Job& job);

}  // namespace stepwright::plan

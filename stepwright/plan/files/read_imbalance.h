#pragma once

#include <filesystem>

#include "stepwright/core/document.h"
#include "stepwright/plan/job.h"

namespace stepwright::plan {

/// Reads `imbalance` of a job whose model is known: a number of at least 1, the tokens of each
/// expert of a layer, or `{file}` of them: a list in JSON or YAML, numbers apart by commas or
/// lines, or a table with a column `tokens` and, where its rows are in another order, `expert`.
/// Fails with `kInput` where there are other than one number for each expert, a negative one, or
/// none above 0.
void read_imbalance(Node node, const std::filesystem::path& directory, Job& job);

}  // namespace stepwright::plan

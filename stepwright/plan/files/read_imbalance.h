#pragma once

#include <filesystem>

#include "stepwright/core/document.h"
#include "stepwright/plan/job.h"

namespace stepwright::plan {

/// Reads `imbalance` of a job whose model is known. Allowed are a number of at least 1, a list of
/// the tokens of each expert of a layer, or `{file}` with such a list: JSON or YAML, numbers
/// separated by commas or lines, or a table with a column `tokens` and, if its rows are in another
/// order, `expert`. Fails with `kInput` unless there is one number for each expert, none negative
/// and one above 0.
void read_imbalance(Node node, const std::filesystem::path& directory, Job& job);

}  // namespace stepwright::plan

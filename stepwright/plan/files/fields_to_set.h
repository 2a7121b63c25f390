#pragma once

#include <string>
#include <string_view>

#include "stepwright/plan/job.h"

namespace stepwright::plan {

/// Returns the full dotted path, in a plan file, of a field that `--set` names (`job.` may be left
/// out). Fails with `kInput`, in a message that starts with `name`: for an unknown field, naming
/// the nearest known one; and for a field that no result of a plan depends on, naming the intended
/// field if there is one (`search`, `cluster.source`, `imbalance` of a dense model).
std::string path_to_set(std::string_view field, const Job& job, const std::string& name);

/// True if an assignment to `path` completely overrides an earlier assignment to `earlier` (another
/// path or the same).
bool overrides_assignment(std::string_view path, std::string_view earlier);

}  // namespace stepwright::plan

#pragma once

#include <string>
#include <string_view>

#include "stepwright/plan/job.h"

namespace stepwright::plan {

/// The dotted path in a plan file of a field that `--set` names, whose `job.` may have been left
/// out. Fails with `kInput`, opening with `name`: for a field that no plan file has, with the
/// nearest that it has, and for one on which nothing that is said about a plan depends, with the
/// one that was meant where there is one (`search`, `cluster.source`, `imbalance` of a dense
/// model).
std::string path_to_set(std::string_view field, const Job& job, const std::string& name);

/// Whether an assignment to a path leaves nothing of an earlier one to another path (or the same).
bool undoes(std::string_view path, std::string_view earlier);

}  // namespace stepwright::plan

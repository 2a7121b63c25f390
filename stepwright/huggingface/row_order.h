#pragma once

#include <vector>

#include "stepwright/huggingface/families.h"
#include "stepwright/huggingface/tensors.h"
#include "stepwright/model/architecture.h"
#include "stepwright/model/parameters.h"

namespace stepwright::huggingface {

/// The rows of one copy of a parameter in each of its tensors, by the names of the parameter there:
/// runs whose places begin at 0. Rows that no tensor holds are in none of them. Fails with
/// `kUnsupported` where heads cannot be dealt as the storage asks.
std::vector<std::vector<RowRun>> ordered_rows(const model::Architecture& model,
                                              const Family& family,
                                              const model::Parameter& parameter,
                                              const ParameterNames& names);

}  // namespace stepwright::huggingface

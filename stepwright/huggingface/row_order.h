#pragma once

#include <vector>

#include "stepwright/huggingface/families.h"
#include "stepwright/huggingface/tensors.h"
#include "stepwright/model/architecture.h"
#include "stepwright/model/parameters.h"

namespace stepwright::huggingface {

/// Returns, for each tensor that stores a parameter, the runs of rows that it holds of one copy;
/// `place` counts from the tensor's first row. A row that no tensor holds is in no run. Fails with
/// `kUnsupported` if heads cannot be divided as the storage requires.
std::vector<std::vector<RowRun>> ordered_rows(const model::Architecture& model,
                                              const Family& family,
                                              const model::Parameter& parameter,
                                              const ParameterNames& names);

}  // namespace stepwright::huggingface

#pragma once

#include <string>
#include <vector>

#include "stepwright/model/architecture.h"

namespace stepwright::huggingface {

/// The differences of two models in parameters or results, one phrase each ("norm_epsilon: 1e-05,
/// here 1e-06"). Names and dropout do not count, nor the longest sequence where no table depends on
/// it.
std::vector<std::string> differences(const model::Architecture& theirs,
                                     const model::Architecture& ours);

}  // namespace stepwright::huggingface

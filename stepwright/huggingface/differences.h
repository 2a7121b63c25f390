#pragma once

#include <string>
#include <vector>

#include "stepwright/model/architecture.h"

namespace stepwright::huggingface {

/// Returns the differences of two models in parameters or results, one phrase each ("norm_epsilon:
/// 1e-05, here 1e-06"). Names, dropout and, unless a learned table depends on it, the longest
/// sequence do not count.
std::vector<std::string> differences(const model::Architecture& theirs,
                                     const model::Architecture& ours);

}  // namespace stepwright::huggingface

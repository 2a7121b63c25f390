#pragma once

#include <string>
#include <vector>

#include "stepwright/model/architecture.h"

namespace stepwright::huggingface {

/// Returns the differences between two models that change their parameters or results, one phrase
/// each ("norm_epsilon: 1e-05, here 1e-06"). Names, dropout and the longest sequence (unless it
/// sizes a learned table) are ignored.
std::vector<std::string> differences_between_models(const model::ModelArchitecture& theirs,
                                                    const model::ModelArchitecture& ours);

}  // namespace stepwright::huggingface

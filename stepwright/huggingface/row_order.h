#pragma once

#include <vector>

#include "stepwright/huggingface/families.h"
#include "stepwright/huggingface/tensors.h"
#include "stepwright/model/architecture.h"
#include "stepwright/model/parameters.h"

namespace stepwright::huggingface {

/// Returns, for each Hugging Face tensor that stores a parameter, the runs of the parameter's rows
/// that it holds, each with its first row in the tensor (`place`). For experts, the rows are of one
/// expert's copy. Fails with `kUnsupported` if heads cannot be divided as the storage requires.
std::vector<std::vector<ParameterRowRun>> tensor_rows_of_parameter(
    const model::ModelArchitecture& model, const HuggingFaceWeightFamily& family,
    const model::ModelParameter& parameter, const HuggingFaceParameterNames& names);

}  // namespace stepwright::huggingface

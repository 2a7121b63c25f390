#pragma once

#include <vector>

#include "stepwright/huggingface/families.h"
#include "stepwright/huggingface/tensors.h"
#include "stepwright/model/architecture.h"
#include "stepwright/model/parameters.h"

namespace stepwright::huggingface {

/// Returns, for each Hugging Face tensor that stores a parameter, which rows of the parameter it
/// holds and at which of its own rows (`place`); for one copy (expert) of the parameter. Fails with
/// `kUnsupported` if heads cannot be divided as the storage requires.
std::vector<std::vector<ParameterRowRun>> tensor_rows_of_parameter(
    const model::ModelArchitecture& model, const HuggingFaceWeightFamily& family,
    const model::ModelParameter& parameter, const HuggingFaceParameterNames& names);

}  // namespace stepwright::huggingface

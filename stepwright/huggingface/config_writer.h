#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "stepwright/huggingface/families.h"
#include "stepwright/model/architecture.h"

namespace stepwright::huggingface {

/// Returns a model as the `config.json` of a Hugging Face model type, as transformers 4 and 5 read
/// it. Properties that this format cannot express are left out.
nlohmann::ordered_json huggingface_config_json(const model::ModelArchitecture& model,
                                               const HuggingFaceWeightFamily& family);

/// Returns the first Hugging Face model type whose `config.json` expresses the whole model, which
/// is tested by reading it back. Fails with `kUnsupported` if there is none, naming the nearest
/// type and what it cannot express.
const HuggingFaceWeightFamily& huggingface_family_of_model(const model::ModelArchitecture& model);

}  // namespace stepwright::huggingface

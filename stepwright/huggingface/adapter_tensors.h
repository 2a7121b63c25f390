#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "stepwright/huggingface/tensors.h"

namespace stepwright {

/// The A and the B of an adapter in a folder of peft, as rows of our parameters.
struct AdapterTensors {
  std::string weight;  ///< The tensor beside which they stand, in files of the model.
  ForeignTensor down, up;
};

/// The adapters of a model that has some, tensor after tensor. Where the parts of a fused product
/// share an A, each has a copy. Fails with `kUnsupported` where the family has no tensor of its own
/// for an adapted part, and for adapters of experts.
std::vector<AdapterTensors> adapter_tensors(const Architecture& model, const Family& family);

/// `adapter_config.json` of them (huggingface/peft src/peft/tuners/lora/config.py).
nlohmann::ordered_json adapter_config(const Architecture& model,
                                      const std::vector<AdapterTensors>& tensors);

}  // namespace stepwright

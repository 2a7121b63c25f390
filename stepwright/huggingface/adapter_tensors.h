#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "stepwright/huggingface/tensors.h"

namespace stepwright::huggingface {

/// The A and the B of an adapter in a folder of peft, as rows of our parameters.
struct AdapterTensors {
  std::string weight;       ///< Name of the tensor beside which they stand, in files of the model.
  bool transposed = false;  ///< True if that tensor is stored input x output.
  ForeignTensor down, up;
};

/// The adapters of a model that has some, tensor after tensor of the family's files. Where the
/// parts of a fused product share an A and have tensors of their own, each has a copy of it. Fails
/// with `kUnsupported` where a tensor holds parts whose adapters are apart, or rows beside which
/// none stands, and where the experts of a layer are one tensor.
std::vector<AdapterTensors> adapter_tensors(const model::Architecture& model, const Family& family);

/// Modules and parameters that a model's adapters stand beside in the family's files, each once:
/// modules by the last part of their names ("q_proj"; with the one before it where others end so,
/// too), and parameters that are no modules, as stacked experts, by their names within a layer
/// ("mlp.experts.gate_up_proj").
struct AdaptedModules {
  std::vector<std::string> modules;
  std::vector<std::string> parameters;
};
AdaptedModules adapted_modules(const model::Architecture& model, const Family& family);

/// `adapter_config.json` of them (huggingface/peft src/peft/tuners/lora/config.py); `base`, if it
/// is not empty, is where the model is.
nlohmann::ordered_json adapter_config(const model::Architecture& model, const Family& family,
                                      const std::vector<AdapterTensors>& tensors,
                                      const std::string& base = {});

}  // namespace stepwright::huggingface

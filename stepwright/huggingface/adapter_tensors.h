#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "stepwright/huggingface/tensors.h"

namespace stepwright::huggingface {

/// The A and B of one adapter in a folder of peft, as rows of Stepwright's parameters.
struct AdapterTensors {
  std::string weight;       ///< Name of the adapted tensor in the model's files.
  bool transposed = false;  ///< True if the adapted tensor is stored input x output.
  ForeignTensor down, up;
};

/// Returns the adapters of a model with adapters, in the order of the adapted tensors in the
/// family's files. If the parts of a fused product share an A but are separate tensors, each tensor
/// gets a copy of A. Fails with `kUnsupported` if a tensor holds parts with different adapters, or
/// rows without one, or all experts of a layer.
std::vector<AdapterTensors> adapter_tensors(const model::Architecture& model, const Family& family);

/// The modules and parameters of a family's files that have adapters, each listed once. A module is
/// named by the last part of its name ("q_proj"), or by the last two if a module without adapters
/// ends the same way. A parameter that is no module, such as stacked experts, is named within its
/// layer ("mlp.experts.gate_up_proj").
struct AdaptedModules {
  std::vector<std::string> modules;
  std::vector<std::string> parameters;
};
AdaptedModules adapted_modules(const model::Architecture& model, const Family& family);

/// Returns the `adapter_config.json` for these tensors (huggingface/peft
/// src/peft/tuners/lora/config.py). `base` is the model's directory; empty: not written.
nlohmann::ordered_json adapter_config(const model::Architecture& model, const Family& family,
                                      const std::vector<AdapterTensors>& tensors,
                                      const std::string& base = {});

}  // namespace stepwright::huggingface

#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "stepwright/huggingface/tensors.h"

namespace stepwright::huggingface {

/// The A and B of one LoRA adapter as the peft library stores them, described by rows of
/// Stepwright's parameters.
struct PeftAdapterTensors {
  std::string weight;  ///< Name of the adapted weight in the Hugging Face model's files.
  /// True if the adapted weight is stored as [input, output] instead of [output, input].
  bool transposed = false;
  HuggingFaceTensor down, up;
};

/// Returns the LoRA tensors of a model as the peft library stores them. If parts of a fused weight
/// share an A but are separate tensors in the family's files, each gets a copy of A. Fails with
/// `kUnsupported` if an adapted tensor of the files holds all experts of a layer, needs more than
/// one A, or has rows without an adapter.
std::vector<PeftAdapterTensors> peft_adapter_tensors(const model::ModelArchitecture& model,
                                                     const HuggingFaceWeightFamily& family);

/// Names of the modules and parameters of a Hugging Face model that have LoRA adapters, as peft's
/// `target_modules` and `target_parameters` take them: the last part of the name ("q_proj"), or the
/// last two if another module ends the same way; for stacked experts the name within the layer
/// ("mlp.experts.gate_up_proj").
struct PeftTargetModules {
  std::vector<std::string> modules;
  std::vector<std::string> parameters;
};
PeftTargetModules adapted_modules(const model::ModelArchitecture& model,
                                  const HuggingFaceWeightFamily& family);

/// Returns the `adapter_config.json` of the peft library for a model's LoRA adapters
/// (huggingface/peft src/peft/tuners/lora/config.py). `base`: directory of the base model; empty:
/// not written.
nlohmann::ordered_json peft_adapter_config_json(const model::ModelArchitecture& model,
                                                const HuggingFaceWeightFamily& family,
                                                const std::vector<PeftAdapterTensors>& tensors,
                                                const std::string& base = {});

}  // namespace stepwright::huggingface

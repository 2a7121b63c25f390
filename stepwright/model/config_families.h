#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "stepwright/model/architecture.h"
#include "stepwright/model/check.h"
#include "stepwright/model/config_fields.h"

namespace stepwright::model {

/// How config.json files of one `model_type` are read: the reader, its key names and defaults.
struct ModelConfigFamily {
  std::string_view model_type;
  ModelArchitecture (*read)(const ConfigJsonReader& fields);
  /// Model fields with their keys in this family's files, for error messages.
  std::span<const ModelFieldName> names;
  /// Rotary base (theta) if the config.json states none and the family's reader sets none.
  double rotary_base = 1e4;
};

/// Returns all supported families of Hugging Face models, sorted by `model_type`.
const std::vector<ModelConfigFamily>& model_config_families();

// The lists of families below each have a source file of their own.
/// Returns the families of dense Llama-like models.
std::span<const ModelConfigFamily> dense_model_families();
/// Returns the Gemma families, whose norms multiply by 1 + weight and whose logits are soft-capped.
std::span<const ModelConfigFamily> gemma_model_families();
/// Returns the families of GPT-2-like models.
std::span<const ModelConfigFamily> gpt2_model_families();
/// Returns the mixture-of-experts families with softmax routers.
std::span<const ModelConfigFamily> softmax_router_model_families();
/// Returns the mixture-of-experts families with sigmoid routers.
std::span<const ModelConfigFamily> sigmoid_router_model_families();
/// Returns the families with latent attention (DeepSeek).
std::span<const ModelConfigFamily> latent_attention_families();
/// Returns the families with Mamba layers, alone or beside attention layers.
std::span<const ModelConfigFamily> mamba_families();
/// Returns the families with delta-net layers or short convolutions.
std::span<const ModelConfigFamily> delta_net_families();

}  // namespace stepwright::model

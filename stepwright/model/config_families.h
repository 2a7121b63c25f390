#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "stepwright/model/architecture.h"
#include "stepwright/model/check.h"
#include "stepwright/model/config_fields.h"

namespace stepwright::model {

/// How the config.json of one `model_type` is read. Sizes are required; other absent keys get the
/// defaults of transformers' configuration class.
struct ConfigFamily {
  std::string_view model_type;
  Architecture (*read)(const ConfigFields& fields);
  std::span<const FieldName> names;  ///< Key names in the file, for the messages of `check`.
  double rotary_base = 1e4;          ///< Rotary base if neither the file nor the reader has one.
};

/// The supported families, sorted by `model_type`.
const std::vector<ConfigFamily>& config_families();

// The lists of families below each have a source file of their own.
std::span<const ConfigFamily> dense_families();  ///< Families of dense models like Llama.
/// Families whose norms multiply by 1 + weight and whose logits are capped (Gemma).
std::span<const ConfigFamily> gemma_families();
std::span<const ConfigFamily> gpt_families();  ///< Families of models like GPT-2.
/// Families with experts whose router takes a softmax.
std::span<const ConfigFamily> expert_families();
/// Families with experts whose router takes sigmoids.
std::span<const ConfigFamily> sigmoid_families();
/// Families whose attention is latent (DeepSeek).
std::span<const ConfigFamily> latent_families();
/// Families with Mamba layers, alone or among attention layers.
std::span<const ConfigFamily> mamba_families();
/// Families with delta nets or short convolutions.
std::span<const ConfigFamily> delta_families();

}  // namespace stepwright::model

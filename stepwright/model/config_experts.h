#pragma once

#include <cstdint>

#include "stepwright/model/architecture.h"
#include "stepwright/model/config_fields.h"

namespace stepwright::model {

/// Reads Qwen's mixture of experts: every decoder_sparse_step-th layer has experts (num_experts or
/// num_local_experts), except those in mlp_only_layers. `fallback`: values of absent keys.
void read_qwen_experts(const ConfigJsonReader& fields, MixtureOfExperts fallback,
                       ModelArchitecture& model);

/// Reads a mixture of experts with DeepSeek-V3's routing: sigmoid scores, a load-balancing bias,
/// groups of experts, and `shared` shared experts. `fallback`: values of absent keys; a `count` or
/// `top_k` of 0 in it means that the config.json must have the key.
MixtureOfExperts read_sigmoid_routed_experts(const ConfigJsonReader& fields,
                                             MixtureOfExperts fallback, std::int64_t shared);

/// Adds a remark to `model.beyond` if the clamped gates in a config.json have another slope or
/// bound than gpt-oss, whose values are assumed.
void note_unusual_gate_clamp(const ConfigJsonReader& fields, ModelArchitecture& model);

}  // namespace stepwright::model

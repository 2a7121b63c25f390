#pragma once

#include <cstdint>

#include "stepwright/model/architecture.h"
#include "stepwright/model/config_fields.h"

namespace stepwright::model {

/// Reads Qwen's mixture of experts: layers whose number is a multiple of decoder_sparse_step have
/// experts (num_experts or num_local_experts), except those in mlp_only_layers.
void read_qwen_experts(const ConfigFields& fields, Experts fallback, Architecture& model);

/// Reads routing as in DeepSeek-V3: sigmoid scores, a correction bias, groups of experts, and
/// `shared` shared experts. A `count` or `top_k` of 0 in `fallback` means that the file must state
/// it.
Experts sigmoid_experts(const ConfigFields& fields, Experts fallback, std::int64_t shared);

/// Notes in `model.beyond` a slope or bound of clamped gates other than gpt-oss has: a model is
/// described with the values of gpt-oss.
void note_clamped_numbers(const ConfigFields& fields, Architecture& model);

}  // namespace stepwright::model

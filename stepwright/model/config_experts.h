#pragma once

#include <cstdint>

#include "stepwright/model/architecture.h"
#include "stepwright/model/config_fields.h"

namespace stepwright::model {

/// Qwen's mixture: experts (spelt num_experts or num_local_experts) in every decoder_sparse_step-th
/// layer that is not among mlp_only_layers.
void read_qwen_experts(const ConfigFields& fields, Experts fallback, Architecture& model);

/// Routing of DeepSeek-V3: sigmoids, a correction bias, groups, `shared` experts beside. A count or
/// a number per token of 0 in `fallback` must be in the file.
Experts sigmoid_experts(const ConfigFields& fields, Experts fallback, std::int64_t shared);

/// Clamped gates are described with the slope and the bound of gpt-oss; a file may have others.
void note_clamped_numbers(const ConfigFields& fields, Architecture& model);

}  // namespace stepwright::model

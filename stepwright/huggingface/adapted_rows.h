#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "stepwright/model/architecture.h"
#include "stepwright/model/parameters.h"

namespace stepwright::huggingface {

/// `count` rows of a weight that one LoRA adapter changes: to row `begin + i` it adds row `up + i`
/// of B times the `rank` rows of A that start at row `down`, times alpha / rank.
struct LoraAdaptedWeightRows {
  std::int64_t begin = 0;
  std::int64_t count = 0;
  std::int64_t up = 0;
  std::int64_t down = 0;
};

/// Returns which rows of a weight its LoRA adapters change, in the order of the fused weight's
/// parts (queries, keys, values), for routed experts expert by expert.
std::vector<LoraAdaptedWeightRows> lora_adapted_weight_rows(
    const model::LoraAdapters& adapters, const model::ModelParameter& weight,
    const model::LoraAdaptableWeight& entry);

/// A weight with LoRA adapters: the names of its A (`down`) and B (`up`) in checkpoints, and the
/// rows that they change.
struct LoraAdaptedWeight {
  std::string down, up;
  std::vector<LoraAdaptedWeightRows> rows;
};

/// Returns the weights of a model that have LoRA adapters, by their names in Stepwright's
/// checkpoints ("layers.3.attention.qkv").
std::map<std::string, LoraAdaptedWeight, std::less<>> lora_adapted_weights(
    const model::ModelArchitecture& model);

}  // namespace stepwright::huggingface

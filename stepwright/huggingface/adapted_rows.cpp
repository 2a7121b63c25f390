#include "stepwright/huggingface/adapted_rows.h"

#include <fmt/format.h>

#include <algorithm>

namespace stepwright::huggingface {
namespace {

/// Returns the adapted rows of one copy (one expert) of a parameter.
std::vector<LoraAdaptedWeightRows> rows_of_copy(const model::LoraAdapters& adapters,
                                                const model::ModelParameter& weight,
                                                const model::LoraAdaptableWeight& entry) {
  std::vector<LoraAdaptedWeightRows> list;
  LoraAdaptedWeightRows next;
  for (std::size_t part = 0; part < entry.parts.size(); ++part) {
    next.count = weight.fused[0] > 0 ? weight.fused[part] : part == 0 ? weight.rows : 0;
    const auto target = model::lora_target_of_fused_part(entry, weight, part);
    if (target && adapters.has(*target)) {
      list.push_back(next);
      next.up += next.count;
      if (!adapters.joined) next.down += adapters.rank;
    }
    next.begin += next.count;
  }
  return list;
}

}  // namespace

std::vector<LoraAdaptedWeightRows> lora_adapted_weight_rows(
    const model::LoraAdapters& adapters, const model::ModelParameter& weight,
    const model::LoraAdaptableWeight& entry) {
  const std::vector<LoraAdaptedWeightRows> one = rows_of_copy(adapters, weight, entry);
  std::int64_t up = 0;
  for (const LoraAdaptedWeightRows& rows : one) up += rows.count;
  const std::int64_t down =
      adapters.rank * (adapters.joined ? 1 : static_cast<std::int64_t>(one.size()));
  std::vector<LoraAdaptedWeightRows> all;
  for (std::int64_t copy = 0; copy < weight.copies; ++copy) {
    for (const LoraAdaptedWeightRows& rows : one) {
      all.push_back({.begin = rows.begin + copy * weight.rows,
                     .count = rows.count,
                     .up = rows.up + copy * up,
                     .down = rows.down + copy * down});
    }
  }
  return all;
}

std::map<std::string, LoraAdaptedWeight, std::less<>> lora_adapted_weights(
    const model::ModelArchitecture& model) {
  std::map<std::string, LoraAdaptedWeight, std::less<>> all;
  for (std::int64_t layer = 0; layer < model.layers; ++layer) {
    const std::vector<model::ModelParameter> parameters =
        model::layer_parameters(model, model.layer_class(layer));
    for (const model::ModelParameter& weight : parameters) {
      const model::LoraAdaptableWeight* entry = model::find_adaptable_weight(weight.name);
      if (entry == nullptr) continue;
      if (std::ranges::find(parameters, entry->down, &model::ModelParameter::name) ==
          parameters.end())
        continue;
      const std::string prefix = fmt::format("layers.{}.", layer);
      all.emplace(
          prefix + std::string(weight.name),
          LoraAdaptedWeight{prefix + std::string(entry->down), prefix + std::string(entry->up),
                            lora_adapted_weight_rows(*model.adapters, weight, *entry)});
    }
  }
  return all;
}

}  // namespace stepwright::huggingface

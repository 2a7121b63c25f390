#include "stepwright/model/adapters.h"

#include <algorithm>
#include <limits>

#include "stepwright/model/parameters.h"

namespace stepwright::model {
namespace {

using enum LoraTargetProduct;

constexpr LoraAdaptableWeight kAdaptedWeights[] = {
    {"attention.qkv",
     "attention.qkv_lora_a",
     "attention.qkv_lora_b",
     {kQuery, kKey, kValue, kQuery}},
    {"attention.q", "attention.q_lora_a", "attention.q_lora_b", {kQuery}},
    {"attention.q_down", "attention.q_down_lora_a", "attention.q_down_lora_b", {kQueryDown}},
    {"attention.q_up", "attention.q_up_lora_a", "attention.q_up_lora_b", {kQueryUp}},
    {"attention.kv_down", "attention.kv_down_lora_a", "attention.kv_down_lora_b", {kKeyValueDown}},
    {"attention.kv_up", "attention.kv_up_lora_a", "attention.kv_up_lora_b", {kKeyValueUp}},
    {"attention.output", "attention.output_lora_a", "attention.output_lora_b", {kProjection}},
    {"mlp.fc1", "mlp.fc1_lora_a", "mlp.fc1_lora_b", {kGate, kUp}},
    {"mlp.fc2", "mlp.fc2_lora_a", "mlp.fc2_lora_b", {kFc2}},
    {"experts.fc1", "experts.fc1_lora_a", "experts.fc1_lora_b", {kGate, kUp}},
    {"experts.fc2", "experts.fc2_lora_a", "experts.fc2_lora_b", {kFc2}},
    {"shared.fc1", "shared.fc1_lora_a", "shared.fc1_lora_b", {kGate, kUp}},
    {"shared.fc2", "shared.fc2_lora_a", "shared.fc2_lora_b", {kFc2}}};

/// Calls `take` for each part of a weight that is an adapter target, with the weight, the target
/// and the rows of that part.
template <class Take>
void each_target(ModelArchitecture model, Take take) {
  model.adapters.reset();
  for (const auto& [layer, layers] : model.layer_counts_by_class()) {
    for (const ModelParameter& weight : layer_parameters(model, layer)) {
      const LoraAdaptableWeight* entry = find_adaptable_weight(weight.name);
      if (entry == nullptr) continue;
      for (std::size_t part = 0; part < entry->parts.size(); ++part) {
        const auto target = lora_target_of_fused_part(*entry, weight, part);
        if (target) take(weight, *target, weight.fused[0] > 0 ? weight.fused[part] : weight.rows);
      }
    }
  }
}

}  // namespace

const LoraAdaptableWeight* find_adaptable_weight(std::string_view weight) {
  const auto found = std::ranges::find(kAdaptedWeights, weight, &LoraAdaptableWeight::weight);
  return found == std::end(kAdaptedWeights) ? nullptr : found;
}

std::optional<LoraTargetProduct> lora_target_of_fused_part(const LoraAdaptableWeight& entry,
                                                           const ModelParameter& weight,
                                                           std::size_t part) {
  if (weight.fused[0] > 0) {
    return weight.fused[part] > 0 ? entry.parts[part] : std::nullopt;
  }
  if (part > 0) return std::nullopt;
  return entry.parts[0] == kGate ? kUp : entry.parts[0];
}

bool has_adapter_targets(const ModelArchitecture& model, const LayerClass& layer) {
  const auto has = [&](std::initializer_list<LoraTargetProduct> targets) {
    return std::ranges::any_of(targets,
                               [&](LoraTargetProduct t) { return model.adapters->has(t); });
  };
  if (layer.attends() && has({kProjection})) return true;
  const bool of_heads = has({kQuery, kKey, kValue});
  const bool of_latents = has({kQuery, kQueryDown, kQueryUp, kKeyValueDown, kKeyValueUp});
  if (layer.attends() && (model.latent ? of_latents : of_heads)) return true;
  return layer.feed_forward != FeedForward::kNone && has({kGate, kUp, kFc2});
}

AdapterTargets possible_adapter_targets(const ModelArchitecture& model) {
  AdapterTargets targets;
  each_target(model, [&](const ModelParameter&, LoraTargetProduct target, std::int64_t) {
    targets.set(place_of(target));
  });
  return targets;
}

std::int64_t largest_adapter_rank(const ModelArchitecture& model, const AdapterTargets& targets) {
  std::int64_t rank = std::numeric_limits<std::int64_t>::max();
  each_target(model,
              [&](const ModelParameter& weight, LoraTargetProduct target, std::int64_t rows) {
                if (targets[place_of(target)]) rank = std::min({rank, weight.columns, rows});
              });
  return rank;
}

}  // namespace stepwright::model

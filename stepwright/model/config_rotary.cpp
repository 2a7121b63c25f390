#include "stepwright/model/config_rotary.h"

#include <algorithm>

#include "stepwright/model/layer_order.h"

namespace stepwright {
namespace {

constexpr double kLargest = 1e12;

struct RotaryNumbers {
  double base = 0;
  std::optional<RotaryScaling> scaling = {};
  bool operator==(const RotaryNumbers&) const = default;
};

double number_in(Node rope, std::string_view key, double fallback) {
  const auto found = rope.find(key);
  return found && !found->is_null() ? found->number(0, kLargest) : fallback;
}

RotaryScalingKind kind_of(const std::string& word) {
  for (const auto& [kind, name] : kRotaryScalingNames) {
    if (name == word) return kind;
  }
  return RotaryScalingKind::kOther;
}

std::optional<RotaryScaling> scaling_in(Node rope, const Architecture& model) {
  auto type = rope.find("rope_type");
  if (!type || type->is_null()) type = rope.find("type");
  if (!type || type->is_null() || type->text() == "default") return std::nullopt;
  RotaryScaling scaling{.kind = kind_of(type->text())};
  scaling.factor = number_in(rope, "factor", 1);
  if (scaling.kind != RotaryScalingKind::kLlama3) return scaling;
  scaling.low_frequency = number_in(rope, "low_freq_factor", 1);
  scaling.high_frequency = number_in(rope, "high_freq_factor", 4);
  const auto original = rope.find("original_max_position_embeddings");
  scaling.original_positions =
      original && !original->is_null() ? original->integer(1, kLargestSize) : model.positions;
  return scaling;
}

/// The mapping of all layers, or those of the layer types that the model has.
std::vector<Node> mappings(Node rope, const Architecture& model) {
  if (!rope.is_mapping()) rope.fail("must be a mapping or null");
  std::vector<Node> nested;
  bool any = false;
  for (const std::string_view type : {"full_attention", "sliding_attention"}) {
    const auto found = rope.find(type);
    if (!found || !found->is_mapping()) continue;
    any = true;
    const bool slides = type == "sliding_attention";
    const bool used = std::ranges::any_of(
        layers_of(model), [&](const LayerClass& layer) { return (layer.window > 0) == slides; });
    if (used) nested.push_back(*found);
  }
  return any ? nested : std::vector<Node>{rope};
}

}  // namespace

void read_rotary_numbers(const ConfigFields& fields, double base, Architecture& model) {
  base = fields.number_or("rotary_emb_base", base, 0, kLargest);
  base = fields.number_or("rope_theta", base, 0, kLargest);
  model.rotary_base = base;
  auto rope = fields.value("rope_scaling");
  if (!rope) rope = fields.value("rope_parameters");
  if (!rope) return;
  std::optional<RotaryNumbers> common;
  for (const Node mapping : mappings(*rope, model)) {
    const RotaryNumbers numbers{number_in(mapping, "rope_theta", base), scaling_in(mapping, model)};
    if (common && *common != numbers) {
      rope->fail_unsupported("layer types whose rotary positions differ");
    }
    common = numbers;
  }
  if (!common) return;
  model.rotary_base = common->base;
  model.rotary_scaling = common->scaling;
}

}  // namespace stepwright

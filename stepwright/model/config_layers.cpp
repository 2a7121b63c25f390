#include "stepwright/model/config_layers.h"

#include <fmt/format.h>

#include <algorithm>

#include "stepwright/core/nearest.h"
#include "stepwright/core/utf8.h"
#include "stepwright/model/layer_class_index.h"

namespace stepwright::model {
namespace {

constexpr std::int64_t kQwenWindowLayers = 28;  // Default of max_window_layers.

LayerClass layer_of(DocumentNode word, LayerWords words) {
  std::vector<std::string_view> known;
  for (const auto& [name, layer] : words) {
    if (word.text() == name) return layer;
    known.push_back(name);
  }
  word.fail_unsupported(fmt::format("the layer type '{}' (supported: {})",
                                    one_line_printable_text(word.text()), join_with_commas(known)));
}

/// Returns 1 for the layers whose entry in a list is `marked`, 0 for those with `other`.
std::vector<std::uint8_t> marked_layers(DocumentNode types, std::string_view marked,
                                        std::string_view other, const ModelArchitecture& model) {
  check_one_entry_per_layer(types, model);
  std::vector<std::uint8_t> marks;
  for (const LayerClass& layer :
       listed_layer_classes(types, {{marked, {.window = 1}}, {other, {}}})) {
    marks.push_back(layer.window > 0 ? 1 : 0);
  }
  return marks;
}

std::vector<std::uint8_t> by_rule(const ConfigJsonReader& fields, AttentionWindowRule rule,
                                  std::int64_t layers) {
  const bool on =
      rule == AttentionWindowRule::kEveryLayer || fields.flag("use_sliding_window", false);
  std::vector<std::uint8_t> slides(static_cast<std::size_t>(layers), on ? 1 : 0);
  if (!on || rule == AttentionWindowRule::kEveryLayer || rule == AttentionWindowRule::kSwitched)
    return slides;
  const std::int64_t limit = fields.size_or_default("max_window_layers", kQwenWindowLayers, 0);
  for (std::int64_t layer = 0; layer < layers; ++layer) {
    const bool slide =
        rule == AttentionWindowRule::kFromLayer ? layer >= limit : layer % 2 == 0 && layer < limit;
    slides[static_cast<std::size_t>(layer)] = slide ? 1 : 0;
  }
  return slides;
}

/// Reads `sliding_window`: `fallback` if absent, 0 if null.
std::int64_t window_of(const ConfigJsonReader& fields, std::int64_t fallback) {
  const auto found = fields.find({"sliding_window"});
  if (!found) return fallback;
  return found->is_null() ? 0 : found->integer(0, kMaxModelDimension);
}

}  // namespace

void check_one_entry_per_layer(DocumentNode list, const ModelArchitecture& model) {
  if (!list.is_sequence()) list.fail("must be a list of one entry per layer, or null");
  if (list.size() == static_cast<std::size_t>(model.layers)) return;
  list.fail(fmt::format("has {} entries; one per layer ({}) is wanted", list.size(), model.layers));
}

std::vector<LayerClass> listed_layer_classes(DocumentNode list, LayerWords words) {
  if (!list.is_sequence()) list.fail("must be a list of one word per layer");
  std::vector<LayerClass> layers;
  for (std::size_t i = 0; i < list.size(); ++i) layers.push_back(layer_of(list.at(i), words));
  return layers;
}

void read_attention_windows(const ConfigJsonReader& fields, AttentionWindowRule rule,
                            std::int64_t fallback, ModelArchitecture& model) {
  const std::vector<std::uint8_t> marks = by_rule(fields, rule, model.layers);
  read_attention_windows(
      fields, [&](std::int64_t layer) { return marks[static_cast<std::size_t>(layer)] != 0; },
      fallback, model);
}

std::function<bool(std::int64_t)> all_layers_but_every_nth(std::int64_t every) {
  return [every](std::int64_t layer) { return (layer + 1) % every != 0; };
}

void drop_rotary_without_window(const ConfigJsonReader& fields, ModelArchitecture& model) {
  const auto window = fields.find({"sliding_window"});
  if (window && window->is_null()) return;
  turn_off_rotary_outside_layers(
      model, [](const LayerClass& layer, std::int64_t) { return layer.window > 0; });
}

void turn_off_rotary_outside_layers(
    ModelArchitecture& model, const std::function<bool(const LayerClass&, std::int64_t)>& rotated) {
  std::vector<LayerClass> layers = model_layer_classes(model);
  for (std::size_t i = 0; i < layers.size(); ++i) {
    layers[i].rotated = rotated(layers[i], static_cast<std::int64_t>(i));
  }
  set_layer_class_pattern(model, std::move(layers));
}

void read_attention_windows(const ConfigJsonReader& fields,
                            const std::function<bool(std::int64_t)>& rule, std::int64_t fallback,
                            ModelArchitecture& model) {
  fields.mark_config_keys_used({"sliding_window", "max_window_layers"});
  const auto types = fields.value("layer_types");
  std::vector<std::uint8_t> slides;
  if (types) slides = marked_layers(*types, "sliding_attention", "full_attention", model);
  for (std::int64_t layer = 0; !types && layer < model.layers; ++layer) {
    slides.push_back(rule(layer) ? 1 : 0);
  }
  if (std::ranges::count(slides, 1) == 0) return;
  const std::int64_t window = window_of(fields, fallback);
  if (window == 0 && types) types->fail("has sliding layers, but there is no sliding_window");
  if (window == 0) return;
  std::vector<std::int64_t> windows;
  for (const std::uint8_t slide : slides) windows.push_back(slide != 0 ? window : 0);
  set_layer_attention_windows(model, windows);
}

void replace_experts_by_dense_mlp(ModelArchitecture& model,
                                  const std::function<bool(std::int64_t)>& is_dense) {
  std::vector<std::uint8_t> marks;
  for (std::int64_t layer = 0; layer < model.layers; ++layer) {
    marks.push_back(is_dense(layer) ? 1 : 0);
  }
  const auto dense = std::ranges::count(marks, 1);
  if (dense == model.layers) model.experts.reset();
  assign_dense_mlp_layers(model, marks);
}

void replace_experts_in_listed_dense_layers(const ConfigJsonReader& fields, std::int64_t first,
                                            ModelArchitecture& model) {
  const auto types = fields.value("mlp_layer_types");
  if (!types)
    return replace_experts_by_dense_mlp(model, [&](std::int64_t layer) { return layer < first; });
  const std::vector<std::uint8_t> dense = marked_layers(*types, "dense", "sparse", model);
  replace_experts_by_dense_mlp(
      model, [&](std::int64_t layer) { return dense[static_cast<std::size_t>(layer)] != 0; });
}

}  // namespace stepwright::model
